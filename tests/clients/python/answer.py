"""The shape of an answer, for clients that take a model of pydantic."""

from pydantic import BaseModel, ConfigDict


def untitled(schema):
    """Takes away what is for people only."""
    del schema["title"]
    for each in schema["properties"].values():
        del each["title"]


class Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra=untitled)
    city: str
    days: int
