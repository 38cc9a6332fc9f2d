#!/usr/bin/env node
/**
 * The `reprise` command. Compiles the schemas once, before any is used, and runs.
 */
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeChildProcessSpawner from "@effect/platform-node-shared/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import * as NodeRuntime from "@effect/platform-node-shared/NodeRuntime"
import * as NodeStdio from "@effect/platform-node-shared/NodeStdio"
import * as NodeTerminal from "@effect/platform-node-shared/NodeTerminal"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import * as Reprise from "./Reprise.ts"

const platform = NodeChildProcessSpawner.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeStdio.layer, NodeTerminal.layer, FileEntryLog.layer)
  )
)

/**
 * Leaves when all output is out: a pipe takes so much at a time, and a process that exits drops the rest. A reader that
 * has left meanwhile, as `head` does, is no error.
 */
const teardown: Runtime.Teardown = (exit, onExit) =>
  Runtime.defaultTeardown(exit, (code) => process.stdout.on("error", constVoid).write("", () => onExit(code)))

Reprise.run.pipe(Effect.provide(platform), NodeRuntime.runMain({ teardown }))
