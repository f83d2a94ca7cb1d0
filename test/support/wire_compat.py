"""The other side of test/integration/wire-compat.test.ts: upstream's own messages, in Python.

Reads JSON on standard input, writes JSON to standard output. Commands:
  describe   {"files": [proto path]} -> {"set": base64 FileDescriptorSet of those files and all they import}
  samples    {"types": [full name]} -> [{"type", "title", "bytes"}], messages with every upstream field set
  compare    {"set": base64 of our FileDescriptorSet, "pairs": [{"type", "title", "upstream", "ours"}]} -> [text of each difference]
  text       {"messages": [{"type", "bytes"}]} -> [message as JSON, in upstream's reading]
  encode     {"messages": [{"type", "value"}]} -> [base64 of that JSON value as upstream encodes it]
Every command imports the modules of "files" first.
"""

import base64
import importlib
import json
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf.descriptor import FieldDescriptor

UPSTREAM = descriptor_pool.Default()
# Files that PyPI keeps in another package than their protobuf package says.
MOVED = {"grpc/health/v1/health.proto": "grpc_health.v1.health_pb2"}
# grpcio-reflection has v1alpha only. v1 is v1alpha under a new name.
REFLECTION = "grpc/reflection/v1/reflection.proto"
# How deep samples nest: enough for every message of ours, short of the whole of Envoy's API.
DEPTH = 4


def load(path):
    if path == REFLECTION:
        return load_reflection()
    module = MOVED.get(path, path.removesuffix(".proto").replace("/", ".") + "_pb2")
    return importlib.import_module(module).DESCRIPTOR


def load_reflection():
    alpha = descriptor_pb2.FileDescriptorProto()
    importlib.import_module("grpc_reflection.v1alpha.reflection_pb2").DESCRIPTOR.CopyToProto(alpha)
    renamed = json_format.MessageToJson(alpha).replace("grpc.reflection.v1alpha", "grpc.reflection.v1")
    file = json_format.Parse(renamed, descriptor_pb2.FileDescriptorProto())
    file.name = REFLECTION
    UPSTREAM.AddSerializedFile(file.SerializeToString())
    return UPSTREAM.FindFileByName(REFLECTION)


def upstream_class(name):
    return message_factory.GetMessageClass(UPSTREAM.FindMessageTypeByName(name))


def describe(files):
    seen, result = set(), descriptor_pb2.FileDescriptorSet()

    def add(file):
        if file.name in seen:
            return
        seen.add(file.name)
        for dependency in file.dependencies:
            add(dependency)
        file.CopyToProto(result.file.add())

    for file in files:
        add(file)
    return {"set": base64.b64encode(result.SerializeToString()).decode()}


def scalar(field):
    kind = field.type
    if kind == FieldDescriptor.TYPE_STRING:
        return f"text {field.number} \u00e9"
    if kind == FieldDescriptor.TYPE_BYTES:
        return b"\x00\xff" + bytes([field.number % 256])
    if kind == FieldDescriptor.TYPE_BOOL:
        return True
    if kind == FieldDescriptor.TYPE_ENUM:
        return field.enum_type.values[-1].number
    if kind in (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT):
        return field.number + 0.5
    if kind in (FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_SINT32):
        return -field.number
    if kind in (FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_FIXED32):
        return 2**32 - field.number
    return 2**40 + field.number


STRUCT = {"text": "\u00e9", "number": -1.5, "flag": False, "nothing": None, "list": [1, "two", {"deep": True}], "empty": {}}


def fill(message, depth, arms):
    """Sets every field; of a oneof the arm that `arms` names, else its first."""
    descriptor = message.DESCRIPTOR
    if descriptor.full_name == "google.protobuf.Struct":
        json_format.ParseDict(STRUCT, message)
        return
    if descriptor.full_name == "google.protobuf.Any":
        message.type_url, message.value = "type.googleapis.com/some.Type", b"\x08\x01"
        return
    if descriptor.full_name == "google.protobuf.Value":
        message.string_value = "value"
        return
    for field in descriptor.fields:
        oneof = field.containing_oneof
        if oneof is not None and arms.get(oneof.full_name, oneof.fields[0].name) != field.name:
            continue
        is_message = field.type == FieldDescriptor.TYPE_MESSAGE
        if is_message and depth == 0:
            continue
        target = getattr(message, field.name)
        if is_message and field.message_type.GetOptions().map_entry:
            key, value = field.message_type.fields_by_name["key"], field.message_type.fields_by_name["value"]
            if value.type == FieldDescriptor.TYPE_MESSAGE:
                fill(target[scalar(key)], depth - 1, arms)
            else:
                target[scalar(key)] = scalar(value)
        elif field.is_repeated:
            if is_message:
                fill(target.add(), depth - 1, arms)
                target.add()
            else:
                target.extend([scalar(field), scalar(field)])
        elif is_message:
            target.SetInParent()
            fill(target, depth - 1, arms)
        else:
            setattr(message, field.name, scalar(field))


def samples(types):
    result = []

    def add(name, title, depth, arms):
        message = upstream_class(name)()
        fill(message, depth, arms)
        result.append({"type": name, "title": title, "bytes": base64.b64encode(message.SerializeToString()).decode()})

    for name in types:
        add(name, "full", DEPTH, {})
        add(name, "with empty messages inside", 1, {})
        for oneof in UPSTREAM.FindMessageTypeByName(name).oneofs:
            for field in oneof.fields:
                add(name, f"with {field.name}", DEPTH, {oneof.full_name: field.name})
    return result


def compare(data):
    """Our bytes must be what is left of upstream's when fields outside our definitions are dropped."""
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(data["set"])).file:
        pool.AddSerializedFile(file.SerializeToString())
    problems = []
    for pair in data["pairs"]:
        reduced = message_factory.GetMessageClass(pool.FindMessageTypeByName(pair["type"]))()
        reduced.ParseFromString(base64.b64decode(pair["upstream"]))
        reduced.DiscardUnknownFields()
        ours = upstream_class(pair["type"])()
        ours.ParseFromString(base64.b64decode(pair["ours"]))
        if ours.SerializeToString(deterministic=True) != reduced.SerializeToString(deterministic=True):
            problems.append(f"{pair['type']} {pair['title']}: expected\n{reduced}\ngot\n{ours}")
    return problems


def text(messages):
    return [
        json_format.MessageToDict(
            upstream_class(m["type"]).FromString(base64.b64decode(m["bytes"])), preserving_proto_field_name=True
        )
        for m in messages
    ]


def encode(messages):
    return [
        base64.b64encode(json_format.ParseDict(m["value"], upstream_class(m["type"])()).SerializeToString()).decode()
        for m in messages
    ]


def main():
    data = json.load(sys.stdin)
    files = [load(path) for path in data["files"]]
    command = {
        "describe": lambda: describe(files),
        "samples": lambda: samples(data["types"]),
        "compare": lambda: compare(data),
        "text": lambda: text(data["messages"]),
        "encode": lambda: encode(data["messages"]),
    }[sys.argv[1]]
    json.dump(command(), sys.stdout)


main()
