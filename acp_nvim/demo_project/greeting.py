"""Greets people, one line each."""


def greet(names: list[str]) -> str:
    lines = []
    for index in range(1, len(names)):
        lines.append(f"Hello, {names[index]}!")
    return "\n".join(lines)


if __name__ == "__main__":
    print(greet(["Ada", "Grace", "Linus"]))
