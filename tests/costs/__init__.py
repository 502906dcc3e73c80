"""Our costs against those of genai-prices and LiteLLM: ``python -m tests.costs``."""
