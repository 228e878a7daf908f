# Runs agents with a tool on the models that the arguments name, and prints a line of JSON for each
# run. `agents.test.ts` starts it, and says what the lines must be.
import asyncio
import json
import os
import sys
from itertools import product

from agents import Agent, ModelSettings, RunConfig, Runner, function_tool
from agents import OpenAIChatCompletionsModel, OpenAIResponsesModel
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from openai.types.shared import Reasoning
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.openai import OpenAIResponsesModel as PydanticResponsesModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

gateway, key = os.environ["GATEWAY"], os.environ["TOLLGATE_KEY"]
openai = AsyncOpenAI(base_url=f"{gateway}/v1", api_key=key, max_retries=0)
anthropic = AsyncAnthropic(base_url=gateway, api_key=key, max_retries=0)

questions = ["Weather?", "And now?"]


def weather_tool(asked):
    def get_weather(city: str) -> str:
        """The weather of a city."""
        asked.append(city)
        return f'{city}: "21°" \\ sunny 🌞'

    return get_weather


async def agents_sdk(api, model, instructions, streamed, thinking):
    asked = []
    models = {"chat": OpenAIChatCompletionsModel, "responses": OpenAIResponsesModel}
    agent = Agent(
        name="Weather",
        instructions=instructions,
        model=models[api](model=model, openai_client=openai),
        model_settings=ModelSettings(reasoning=Reasoning(effort="medium") if thinking else None),
        tools=[function_tool(weather_tool(asked))],
    )
    # Traces would go to OpenAI.
    config = RunConfig(tracing_disabled=True)
    history, outputs = [], []
    for question in questions:
        turn = history + [{"role": "user", "content": question}]
        if streamed:
            result = Runner.run_streamed(agent, turn, run_config=config)
            async for _ in result.stream_events():
                pass
        else:
            result = await Runner.run(agent, turn, run_config=config)
        history = result.to_input_list()
        outputs.append(result.final_output)
    return outputs, asked


# What the package knows of OpenAI's own models by their names.
profile = OpenAIModelProfile(
    supports_thinking=True,
    openai_supports_reasoning=True,
    openai_supports_encrypted_reasoning_content=True,
)


def pydantic_model(api, model):
    if api == "messages":
        return AnthropicModel(model, provider=AnthropicProvider(anthropic_client=anthropic))
    models = {"chat": OpenAIChatModel, "responses": PydanticResponsesModel}
    return models[api](model, provider=OpenAIProvider(openai_client=openai), profile=profile)


async def pydantic_ai(api, model, instructions, streamed, thinking):
    asked = []
    settings = {"openai_reasoning_effort": "medium"}
    if api == "messages":
        budget = {"type": "enabled", "budget_tokens": 2_048}
        settings = {"anthropic_thinking": budget, "max_tokens": 4_096}
    agent = PydanticAgent(
        pydantic_model(api, model),
        instructions=instructions,
        model_settings=settings if thinking else None,
        tools=[weather_tool(asked)],
    )

    # The package asks for a stream if somebody reads the events.
    async def read(_, events):
        async for _ in events:
            pass

    history, outputs = [], []
    for question in questions:
        result = await agent.run(
            question, message_history=history, event_stream_handler=read if streamed else None
        )
        history = result.all_messages()
        outputs.append(result.output)
    return outputs, asked


async def main():
    clients = [
        (agents_sdk, ["chat", "responses"]),
        (pydantic_ai, ["chat", "responses", "messages"]),
    ]
    for client, apis in clients:
        for api, model, streamed, thinking in product(
            apis, sys.argv[1:], [False, True], [False, True]
        ):
            # A model that thinks also writes a text before its calls.
            instructions = "Say what you do." if thinking else "Tell the weather."
            try:
                outputs, asked = await client(api, model, instructions, streamed, thinking)
            except Exception as error:
                outputs, asked = [f"{type(error).__name__}: {error}"], []
            run = {"client": client.__name__, "api": api, "model": model}
            run |= {"streamed": streamed, "thinking": thinking}
            print(json.dumps({**run, "outputs": outputs, "asked": asked}), flush=True)


asyncio.run(main())
