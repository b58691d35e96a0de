-- The agents that come as data files. Generated: change acp_nvim/agents/builtin/*.toml, then type `make doc`.

---@class acp.BuiltinAgent
---@field title string
---@field commands string[][] tried in order: the first whose program is on this machine, and which it knows, is run
---@field url string
---@field install string what to type
---@field sign_in string how to sign in, outside of Neovim
---@field env_needed? table<string, string> names of variables, and what each is for

---@type table<string, acp.BuiltinAgent>
return {
  amp = {
    title = "Amp",
    commands = { { "amp-acp" } },
    url = "https://github.com/tao12345666333/amp-acp",
    install = "npm install -g amp-acp @ampcode/cli",
    sign_in = "Type `amp login` in a terminal, or set AMP_API_KEY.",
    env_needed = {
      AMP_API_KEY = "a key of your Amp account, when you do not sign in",
    },
  },
  auggie = {
    title = "Auggie",
    commands = { { "auggie", "--acp" } },
    url = "https://docs.augmentcode.com/cli/acp",
    install = "npm install -g @augmentcode/auggie",
    sign_in = "Type `auggie login` in a terminal.",
    env_needed = {
      AUGMENT_SESSION_AUTH = "a session of your account, where nobody can sign in",
    },
  },
  claude = {
    title = "Claude",
    commands = { { "claude-agent-acp" }, { "claude-code-acp" } },
    url = "https://github.com/agentclientprotocol/claude-agent-acp",
    install = "npm install -g @agentclientprotocol/claude-agent-acp",
    sign_in = "Type `claude-agent-acp --cli auth login --claudeai` in a terminal, or set ANTHROPIC_API_KEY.",
    env_needed = {
      ANTHROPIC_API_KEY = "a key of the Claude API, when you have no subscription",
    },
  },
  cline = {
    title = "Cline",
    commands = { { "cline", "--acp" } },
    url = "https://docs.cline.bot/usage/acp",
    install = "npm install -g cline",
    sign_in = "Type `cline auth` in a terminal.",
  },
  codex = {
    title = "Codex",
    commands = { { "codex-acp" } },
    url = "https://github.com/agentclientprotocol/codex-acp",
    install = "npm install -g @agentclientprotocol/codex-acp",
    sign_in = "Type `codex login` in a terminal, or set OPENAI_API_KEY.",
    env_needed = {
      OPENAI_API_KEY = "a key of the OpenAI API, when you do not sign in with ChatGPT",
    },
  },
  copilot = {
    title = "GitHub Copilot CLI",
    commands = { { "copilot", "--acp" } },
    url = "https://github.com/github/copilot-cli",
    install = "npm install -g @github/copilot",
    sign_in = "Type `copilot login` in a terminal.",
  },
  cursor = {
    title = "Cursor",
    commands = { { "cursor-agent", "acp" } },
    url = "https://cursor.com/docs/cli/acp",
    install = "curl https://cursor.com/install -fsS | bash",
    sign_in = "Type `cursor-agent login` in a terminal, or set CURSOR_API_KEY.",
    env_needed = {
      CURSOR_API_KEY = "a key of your Cursor account, when you do not sign in",
    },
  },
  droid = {
    title = "Droid",
    commands = { { "droid", "exec", "--output-format", "acp" } },
    url = "https://docs.factory.ai",
    install = "npm install -g droid",
    sign_in = "Type `droid` in a terminal and sign in, or set FACTORY_API_KEY.",
    env_needed = {
      FACTORY_API_KEY = "a key of your Factory account, when you do not sign in",
    },
  },
  ["fast-agent"] = {
    title = "fast-agent",
    commands = { { "fast-agent-acp" }, { "fast-agent", "acp" } },
    url = "https://fast-agent.ai/acp",
    install = "uv tool install --python 3.13 fast-agent-mcp",
    sign_in = "Put your provider's key into fast-agent.secrets.yaml, and a model into fast-agent.yaml.",
    env_needed = {
      FAST_AGENT_MODEL = "the model, when it is not in fast-agent.yaml",
      ANTHROPIC_API_KEY = "a key of the model's provider; others have their own variable",
    },
  },
  gemini = {
    title = "Gemini CLI",
    commands = { { "gemini", "--acp" }, { "gemini", "--experimental-acp" } },
    url = "https://github.com/google-gemini/gemini-cli",
    install = "npm install -g @google/gemini-cli",
    sign_in = "Type `gemini` in a terminal and choose how to sign in, or set GEMINI_API_KEY.",
    env_needed = {
      GEMINI_API_KEY = "a key of the Gemini API, when you do not sign in with Google",
      GOOGLE_CLOUD_PROJECT = "your project, with Vertex AI and with accounts of a company",
    },
  },
  goose = {
    title = "Goose",
    commands = { { "goose", "acp" } },
    url = "https://block.github.io/goose/docs/guides/acp-clients",
    install = "brew install block-goose-cli",
    sign_in = "Type `goose configure` in a terminal: it asks for a provider and its key.",
  },
  junie = {
    title = "Junie",
    commands = { { "junie", "--acp=true" } },
    url = "https://junie.jetbrains.com",
    install = "npm install -g @jetbrains/junie",
    sign_in = "Type `junie` in a terminal and choose how to sign in.",
  },
  kilo = {
    title = "Kilo",
    commands = { { "kilo", "acp" }, { "kilocode", "acp" } },
    url = "https://github.com/Kilo-Org/kilocode",
    install = "npm install -g @kilocode/cli",
    sign_in = "Type `kilo auth login` in a terminal.",
  },
  kimi = {
    title = "Kimi Code",
    commands = { { "kimi", "acp" }, { "kimi", "--acp" } },
    url = "https://github.com/MoonshotAI/kimi-code",
    install = "npm install -g @moonshot-ai/kimi-code",
    sign_in = "Type `kimi login` in a terminal.",
  },
  kiro = {
    title = "Kiro",
    commands = { { "kiro-cli", "acp" } },
    url = "https://kiro.dev/docs/cli/acp",
    install = "curl -fsSL https://cli.kiro.dev/install | bash",
    sign_in = "Type `kiro-cli login` in a terminal.",
  },
  omp = {
    title = "oh-my-pi",
    commands = { { "omp", "acp" } },
    url = "https://omp.sh",
    install = "npm install -g bun @oh-my-pi/pi-coding-agent",
    sign_in = "Type `omp` in a terminal, then `/login`, or set the key of your provider.",
  },
  opencode = {
    title = "opencode",
    commands = { { "opencode", "acp" } },
    url = "https://opencode.ai",
    install = "npm install -g opencode-ai",
    sign_in = "Type `opencode auth login` in a terminal.",
  },
  qwen = {
    title = "Qwen Code",
    commands = { { "qwen", "--acp" }, { "qwen", "--experimental-acp" } },
    url = "https://github.com/QwenLM/qwen-code",
    install = "npm install -g @qwen-code/qwen-code",
    sign_in = "Type `qwen` in a terminal and choose how to sign in, or set OPENAI_API_KEY.",
    env_needed = {
      OPENAI_API_KEY = "a key of the model's provider",
    },
  },
  qwenpaw = {
    title = "QwenPaw",
    commands = { { "qwenpaw", "acp" } },
    url = "https://qwenpaw.agentscope.io/docs/acp-integration",
    install = "uv tool install qwenpaw",
    sign_in = "Type `qwenpaw init` in a terminal: it asks for a provider and its key.",
  },
  vibe = {
    title = "Mistral Vibe",
    commands = { { "vibe-acp" } },
    url = "https://github.com/mistralai/mistral-vibe",
    install = "uv tool install mistral-vibe",
    sign_in = "Type `vibe-acp --setup` in a terminal, or set MISTRAL_API_KEY.",
    env_needed = {
      MISTRAL_API_KEY = "a key of the Mistral API, when it is not in ~/.vibe/.env",
    },
  },
}
