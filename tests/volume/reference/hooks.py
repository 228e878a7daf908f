"""Names models that exist, because a random name always gets a 404, and has events checked."""

import schemathesis

MODELS = {
    "/v1/messages": "claude-haiku-4-5",
    "/v1/images/generations": "flux-2",
    "/v1/images/edits": "flux-2-edit",
}


@schemathesis.hook
def map_body(context, body):
    if isinstance(body, dict) and isinstance(body.get("model"), str):
        body["model"] = MODELS.get(context.operation.path, "gpt-6-luna")
    return body


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Schemathesis checks each event of a stream against OpenAPI 3.2's `itemSchema`."""
    for item in raw_schema["paths"].values():
        for operation in item.values():
            if not isinstance(operation, dict):
                continue
            for answer in operation.get("responses", {}).values():
                for media in answer.get("content", {}).values():
                    if "x-itemSchema" in media:
                        terminator = {"properties": {"data": {"const": media.get("x-terminator")}}}
                        media["itemSchema"] = {"anyOf": [terminator, media.pop("x-itemSchema")]}
                        del media["schema"]
