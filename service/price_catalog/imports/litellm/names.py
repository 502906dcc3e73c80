"""Providers and models named by the keys of a LiteLLM price file."""

import re
from collections.abc import Mapping

from service.price_catalog.imports.exact_prices import RefusedRowError, read_name
from service.price_catalog.imports.price_list import ReasonCode

# Keys that describe the file or contain rules by pattern.
FORMAT_KEYS = frozenset({"sample_spec", "fallback_generalizations"})

_PROVIDER_KEY = re.compile(r"[a-z0-9][a-z0-9._-]{0,127}")

_DISPLAY_NAMES = {
    "ai21": "AI21 Labs",
    "aihubmix": "AIHubMix",
    "amazon_nova": "Amazon Nova",
    "anthropic": "Anthropic",
    "anyscale": "Anyscale",
    "azure": "Azure OpenAI",
    "azure_ai": "Azure AI Foundry",
    "azure_text": "Azure OpenAI (completions)",
    "baseten": "Baseten",
    "bedrock": "Amazon Bedrock",
    "bedrock_converse": "Amazon Bedrock (Converse)",
    "bedrock_mantle": "Amazon Bedrock (Mantle)",
    "cerebras": "Cerebras",
    "chatgpt": "ChatGPT",
    "cloudflare": "Cloudflare Workers AI",
    "codestral": "Codestral",
    "cohere": "Cohere",
    "cohere_chat": "Cohere (chat)",
    "crusoe": "Crusoe",
    "dashscope": "Alibaba Cloud DashScope",
    "databricks": "Databricks",
    "deepinfra": "DeepInfra",
    "deepseek": "DeepSeek",
    "fireworks_ai": "Fireworks AI",
    "fireworks_ai-embedding-models": "Fireworks AI (embeddings)",
    "friendliai": "FriendliAI",
    "gemini": "Google Gemini",
    "gigachat": "GigaChat",
    "github_copilot": "GitHub Copilot",
    "gmi": "GMI Cloud",
    "gradient_ai": "DigitalOcean Gradient AI",
    "groq": "Groq",
    "heroku": "Heroku",
    "hyperbolic": "Hyperbolic",
    "inception": "Inception",
    "jina_ai": "Jina AI",
    "lambda_ai": "Lambda",
    "lemonade": "Lemonade",
    "meta": "Meta",
    "meta_llama": "Meta Llama",
    "minimax": "MiniMax",
    "mistral": "Mistral AI",
    "moonshot": "Moonshot AI",
    "morph": "Morph",
    "nebius": "Nebius",
    "nlp_cloud": "NLP Cloud",
    "novita": "Novita AI",
    "nscale": "Nscale",
    "nvidia_nim": "NVIDIA NIM",
    "oci": "Oracle Cloud",
    "ollama": "Ollama",
    "openai": "OpenAI",
    "opencode_go": "OpenCode Go",
    "openrouter": "OpenRouter",
    "ovhcloud": "OVHcloud",
    "perplexity": "Perplexity",
    "qwencloud": "Qwen Cloud",
    "replicate": "Replicate",
    "sagemaker": "Amazon SageMaker",
    "sambanova": "SambaNova",
    "scaleway": "Scaleway",
    "snowflake": "Snowflake Cortex",
    "tencent": "Tencent Cloud",
    "text-completion-codestral": "Codestral (completions)",
    "text-completion-openai": "OpenAI (completions)",
    "together_ai": "Together AI",
    "vercel_ai_gateway": "Vercel AI Gateway",
    "vertex_ai": "Google Vertex AI",
    "vertex_ai-ai21_models": "Google Vertex AI (AI21 Labs)",
    "vertex_ai-anthropic_models": "Google Vertex AI (Anthropic)",
    "vertex_ai-deepseek_models": "Google Vertex AI (DeepSeek)",
    "vertex_ai-embedding-models": "Google Vertex AI (embeddings)",
    "vertex_ai-language-models": "Google Vertex AI (Gemini)",
    "vertex_ai-llama_models": "Google Vertex AI (Llama)",
    "vertex_ai-minimax_models": "Google Vertex AI (MiniMax)",
    "vertex_ai-mistral_models": "Google Vertex AI (Mistral AI)",
    "vertex_ai-moonshot_models": "Google Vertex AI (Moonshot AI)",
    "vertex_ai-openai_models": "Google Vertex AI (OpenAI)",
    "vertex_ai-qwen_models": "Google Vertex AI (Qwen)",
    "vertex_ai-text-models": "Google Vertex AI (PaLM)",
    "vertex_ai-zai_models": "Google Vertex AI (Z.AI)",
    "volcengine": "Volcengine",
    "voyage": "Voyage AI",
    "wandb": "Weights & Biases",
    "watsonx": "IBM watsonx.ai",
    "xai": "xAI",
    "xiaomi_mimo": "Xiaomi MiMo",
    "zai": "Z.AI",
}


def provider_display_name(provider: str) -> str:
    return _DISPLAY_NAMES.get(provider, provider)


def read_key(key: str, entry: Mapping[str, object]) -> tuple[str, str]:
    """Return the provider and the model of an entry's key.

    Only the provider's own prefix is removed; another one, such as a region, is
    part of the model's name.

    :raises RefusedRowError: the key doesn't name a single model billed by use
    """
    provider = entry.get("litellm_provider")
    if not isinstance(provider, str) or not _PROVIDER_KEY.fullmatch(provider):
        reason = "litellm_provider is missing or isn't a lower-case key"
        raise RefusedRowError(ReasonCode.INVALID_PROVIDER, reason)
    if "commitment/" in key:
        reason = "priced for reserved capacity, not by use"
        raise RefusedRowError(ReasonCode.COMMITMENT, reason)
    if "*" in key:
        reason = "stands for many models"
        raise RefusedRowError(ReasonCode.WILDCARD, reason)
    return provider, read_name(key.removeprefix(f"{provider}/"))
