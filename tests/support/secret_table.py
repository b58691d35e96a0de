"""The table of secrets: what must never be in a file of ours, and what must stay readable there.

The keys are made up, and put together here, so that no program that looks for keys in sources finds one.
"""

from __future__ import annotations

import base64
from typing import Final, NamedTuple

_LETTERS: Final = "Qx7Zt2Lm9Kp4Rv8Ws3Yb6Nc1Hd5Jf0Ga"
_MIXED: Final = (_LETTERS * 4)[:110]
_HEX: Final = "9f86d081884c7d659a2feaa0c55ad015"
_LINES: Final = "\n".join((_LETTERS * 20)[start : start + 64] for start in (0, 71, 142)) + "\nQx7="
_BASIC: Final = base64.b64encode(b"somebody:Quite5ecret!").decode()


class Secret(NamedTuple):
    """A text `before + secret + after`. The mask may be longer than `secret`, but never shorter."""

    kind: str
    before: str
    secret: str
    after: str = ""

    @property
    def text(self) -> str:
        return self.before + self.secret + self.after


def _armour(kind: str, lines: str = _LINES, mark: str = "", end: str = "\n") -> Secret:
    inside = end + mark
    first, last = f"{mark}-----BEGIN {kind}-----{inside}", f"{inside}-----END {kind}-----"
    return Secret(f"{kind}, lines after {mark + end!r}", first, lines.replace("\n", inside), last)


KEYS: Final = [
    Secret(f"key {prefix}…", prefix, _MIXED[: length or 36])
    for prefix, length in {
        **dict.fromkeys(("ghp" + "_", "gho" + "_", "ghu" + "_", "ghs" + "_", "ghr" + "_"), 36),
        "github" + "_pat_": 82,
        "glp" + "at-": 20,
        "gld" + "t-": 20,
        "glp" + "tt-": 40,
        "sk" + "_live_": 24,
        "rk" + "_live_": 24,
        "sk" + "_test_": 24,
        "whs" + "ec_": 32,
        "sk" + "-": 48,
        "sk" + "-proj-": 90,
        "sk" + "-ant-api03-": 95,
        "sk" + "-or-v1-": 64,
        "AI" + "zaSy": 33,
        "ya" + "29.": 60,
        "GOC" + "SPX-": 28,
        "np" + "m_": 36,
        "pyp" + "i-AgEIcHlwaS5vcmc": 80,
        "h" + "f_": 34,
        "S" + "G.": 66,
        "do" + "p_v1_": 64,
        "shp" + "at_": 32,
        "dck" + "r_pat_": 27,
        "xo" + "xb-": 50,
        "xo" + "xp-": 70,
        "xa" + "pp-1-": 60,
        "gs" + "k_": 52,
        "xa" + "i-": 80,
        "pp" + "lx-": 48,
        "r" + "8_": 37,
        "hv" + "s.": 24,
        "figd" + "_": 40,
        "lin" + "_api_": 40,
        "tsk" + "ey-auth-": 30,
        "AGE-SECRET-" + "KEY-1": 58,
        "ATA" + "TT3x": 60,
        "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxIn0.": 43,
    }.items()
] + [
    Secret("AWS access key id", "AK" + "IA", "QX7ZTLM9KP4RVWSY"),
    Secret("AWS secret key after its id", "AK" + "IAQX7ZTLM9KP4RVWSY ", _MIXED[:40]),
    Secret("Twilio", "S" + "K", _HEX),
    Secret("Mailgun", "key" + "-", _HEX),
    Secret("Databricks", "da" + "pi", _HEX),
    Secret("Telegram", "bot 1234567890", ":AA" + _MIXED[:33]),
    Secret("Slack webhook", "https://hooks.slack.com/services/", "T0ABCDEF1/B0ABCDEF2/" + _MIXED[:24]),
]
"""Keys that are recognized by their form."""

PRIVATE_KEYS: Final = [
    _armour("RSA PRIVATE KEY"),
    _armour("OPENSSH PRIVATE KEY"),
    _armour("PRIVATE KEY", end="\r\n"),
    _armour("EC PRIVATE KEY", mark="> "),
    _armour("ENCRYPTED PRIVATE KEY", mark="    "),
    _armour("PRIVATE KEY", mark="+"),
    _armour("PRIVATE KEY", mark="-"),
    _armour("PGP PRIVATE KEY BLOCK", f"Version: GnuPG v2\n\n{_LINES}"),
    _armour("PRIVATE KEY", end="\\n"),
    _armour("PRIVATE KEY", end='\\n" +\n    "'),
    Secret("a key without its end", "-----BEGIN RSA PRIVATE KEY-----\n", _LINES),
    Secret("PuTTY", "Private-Lines: 4\n", _LINES, "\nPrivate-MAC: 1"),
]
"""Keys of several lines."""

VALUES: Final = [
    Secret("YAML", "password: ", "hunter2"),
    Secret("YAML, a short one", "password: ", "x"),
    Secret("YAML, indented", "db:\n    password:   ", "correct horse battery", "\n    user: me"),
    Secret("YAML, in a list", "- api_key: ", "hunter2"),
    Secret("YAML, quoted", "  passphrase: '", 'hunt"er2', "'"),
    Secret("YAML, a block", "password: |\n  ", "hunter2", "\nnext: 1"),
    Secret("YAML, in braces", "{user: me, password: ", "hunter2", "}"),
    Secret("a sentence", "I think that the password: ", "hunter2", " is weak"),
    Secret("markdown", "**Password:** `", "hunter2", "`"),
    Secret("numbered", "1. password: ", "hunter2"),
    Secret("capitals", "Password: ", "Hunter2!"),
    Secret("JSON", '{"password": "', "x y", '", "user": "me"}'),
    Secret("JSON, escaped", r"{\"apiKey\": \"", "hunter2", r"\"}"),
    Secret("JSON, with a token", '"access_token": "', "gurkenhobel", '"'),
    Secret("YAML, a secret", "secret: ", "hunter2"),
    Secret("YAML, words", "passphrase: ", "my dog is old"),
    Secret("JSON, a short token", '{"auth_token":"', "x1", '"}'),
    Secret("TOML", 'client_secret = "', "hunter2", '"'),
    Secret("Python", 'password: str = "', "hunter2", '"'),
    Secret("Python, an argument", "connect(user='me', password='", "hunter2", "')"),
    Secret("Python, a member", 'os.environ["API_TOKEN"] = "', "hunter2", '"'),
    Secret("Python, bytes", "SECRET_KEY = b'", "hunter2", "'"),
    Secret("Python, three quotes", 'password = """', "hunter2", '"""'),
    Secret("Rust", "const PASSWORD: &'static str = \"", "hunter2", '";'),
    Secret("Dockerfile", "FROM x\nENV DB_PASSWORD ", "hunter2", "\nRUN y"),
    Secret("fish", "set -gx API_TOKEN ", "gurkenhobel"),
    Secret("csh", "  setenv DB_PASSWORD '", "hunter 2", "'"),
    Secret("SQL", "CREATE USER me IDENTIFIED BY '", "hunter 2", "';"),
    Secret("SQL of PostgreSQL", "ALTER ROLE me WITH PASSWORD '", "hunter2", "' LOGIN"),
    Secret("openssl", "openssl pkcs12 -in x -passin pass:", "hunter2", " -nodes"),
    Secret("Go", 'token := "', "hunter2hunter2", '"'),
    Secret("Ruby", ':password => "', "hunter2", '"'),
    Secret("shell", "export TOKEN=", "gurkenhobel", "\n"),
    Secret("shell, in front of a command", "PGPASSWORD=", "hunter2", " psql"),
    Secret("shell, quoted", "OPENAI_KEY='", "gurkenhobel", "' run"),
    Secret("properties", "spring.datasource.password=", "hunter2"),
    Secret(".env", "DB_PASS=", "a;b#c"),
    Secret(".npmrc", "//registry.example.org/:_authToken=", "0f1e2d3c-4b5a"),
    Secret(".netrc", "machine example.org login me password ", "hunter2"),
    Secret(".netrc, in lines", "machine example.org\n  login me\n  password ", "hunter2", "\n"),
    Secret(".pgpass", "localhost:5432:shop:me:", "hunter2"),
    Secret("docker's configuration", '"auth": "', _BASIC, '"'),
    Secret("XML", "<password>", "hunter2", "</password>"),
    Secret("a query", "https://example.org/?access_token=", "gurkenhobel", "&page=2"),
    Secret("connection string", "Server=db;Uid=me;Password=", "hunter2", ";Encrypt=true"),
    Secret("connection string, short", "Server=db;Uid=me;Pwd=", "hunter2hunter2", ";"),
    Secret("AccountKey", "AccountName=shop;AccountKey=", _MIXED[:86] + "==", ";EndpointSuffix=core"),
    Secret("signed address", "https://shop.blob.example.org/x?sv=1&sig=", _MIXED[:43] + "%3D"),
    Secret("AWS secret key", "aws_secret_access_key = ", _MIXED[:40]),
    Secret("option", "mytool --password ", "hunter2", " --verbose"),
    Secret("option with =", "mytool --api-key=", "gurkenhobel"),
    Secret("option, quoted", 'mytool --password "', "hunter 2", '"'),
    Secret("mysql", "mysql -u root -p", "hunter2", " shop"),
    Secret("sshpass", "sshpass -p ", "hunter2", " ssh me@host"),
    Secret("docker login", "docker login -u me -p ", "hunter2"),
    Secret("curl", "curl -u me:", "hunter2", " https://example.org"),
    Secret("address with a password", "postgres://me:", "hunt%40er2", "@db.example.org/shop"),
    Secret("address with a password only", "redis://:", "hunter2", "@localhost:6379"),
    Secret("address with a token", "https://", "9z8y7x6w5v4u3t2s1r0q", "@example.org/x.git"),
    Secret("X-Api-Key", "X-Api-Key: ", "x"),
    Secret("X-Api-Key, as an argument", "curl -H 'X-Api-Key: ", "hunter2", "' https://example.org"),
    Secret("Private-Token", "PRIVATE-TOKEN: ", "hunter2"),
    Secret("Authorization", "Authorization: Bearer ", "abc.def"),
    Secret("Authorization, Basic", "> authorization: Basic ", _BASIC),
    Secret("Authorization, as JSON", '"Authorization": "Token ', "hunter2", '"'),
    Secret("Proxy-Authorization", "Proxy-Authorization: Basic ", _BASIC),
    Secret("Bearer", "it says bearer ", "hunter2hunter2"),
    Secret("Basic", "it says Basic ", _BASIC),
    Secret("Cookie", "Cookie: ", "cart=31d4d96e407aad42; theme=dark", "\nHost: x"),
    Secret("Set-Cookie", "Set-Cookie: ", "sid=31d4d96e407aad42", "\n"),
]
"""Values that are recognized by what stands before them."""

SECRETS: Final = [*KEYS, *PRIVATE_KEYS, *VALUES]

READABLE: Final = [
    "password: str",
    'password = """"""',
    "ENV TOKEN_FILE /run/secrets/token",
    "set -x\nset -e PASSWORD\nset password_field",
    "log in with password 'field', identified by the token",
    "a set of tokens, the environment of API_KEY variables",
    "password: str = None",
    "password: Optional[str] = None,",
    "password?: string; apiKey: string;",
    "token: int = 3",
    "tokens: list[Token] = []",
    "def f(password):",
    "def f(password, token=None) -> None:",
    "def add(token, key):\n    return token + key",
    "f(password=password, token=self.token)",
    "f(api_key=api_key, secret=get_secret())",
    "self.password = password",
    "password = getpass()",
    "password = input('Password: ')",
    'token = os.environ["TOKEN"]',
    "const token = lexer.next();",
    "token = next(tokens)",
    'if token == "end":',
    'assert token.value == "abc123def"',
    "token: Identifier",
    "let password = config.database.password;",
    "apiKey: process.env.API_KEY,",
    "password: <your password>",
    "password: ***",
    "password: xxxxxxxx",
    "API_KEY=your-api-key",
    "PASSWORD=${PASSWORD}",
    "export TOKEN=$(cat token.txt)",
    "TOKEN=$TOKEN make",
    "password: {{ vault_password }}",
    "password: null",
    '"password": true',
    '"token": "string"',
    '"type": "password"',
    "password: [masked]",
    "max_tokens: 4096, input_tokens=17",
    '"usage": {"totalTokens": 12345}',
    "password_file: /run/secrets/db",
    "token_type: bearer",
    "password_min_length = 12",
    "secretary: Miss Moneypenny",
    "tokenizer: gpt2-medium-2019",
    "A note on passwords: never store them.",
    "the token: it is parsed by the lexer",
    "the password field, the login form password field",
    "use the --token option, or --password to be asked",
    "headers: { Authorization: `Bearer ${token}` }",
    "Authorization: Bearer $TOKEN",
    "authorization: string;",
    "the bearer of bad news, basic functionality, Basic JavaScript",
    "postgres://user:password@localhost/db",
    "postgres://${USER}:${PASS}@localhost/db",
    "git clone ssh://git@example.org/x.git, http://localhost:8080/x",
    "the task-list of disk-space, class sk-fading-circle",
    'if "-----BEGIN PRIVATE KEY-----" in text:',
    'FIRST = "-----BEGIN PRIVATE KEY-----"\nLAST = "-----END PRIVATE KEY-----"\n',
    'primary_key = "customer_id_2"',
    "keyboard: qwerty1234, monkey: banana12345",
    "git rev-parse HEAD: 4e1243bd22c66e76c2ba9eddc1f91394e57f9f83",
    "docker run -u 1000:1000 image, chown -R me:me .",
    "commit 1f0e9d8c, uuid 123e4567-e89b-12d3-a456-426614174000",
]
"""Texts about code and configuration without secrets."""


def shown(secret: str, text: str) -> int:
    """The length of the longest part of a word of the secret that the text shows."""
    best = 0
    for word in secret.split():
        for start in range(len(word)):
            while start + best < len(word) and word[start : start + best + 1] in text:
                best += 1
    return best
