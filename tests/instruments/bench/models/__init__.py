"""What a model call through the gateway costs, beside LiteLLM Proxy."""
