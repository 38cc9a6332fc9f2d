/**
 * A host of a test's own: sessions in real files, plans and backups as well, all else in `HostMemory`; it takes note of
 * every call, and one of them can be made to go wrong.
 */
import type * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as Message from "@reprise/domain/Message"
import * as Metadata from "@reprise/domain/Metadata"
import * as SessionSource from "@reprise/domain/SessionSource"
import * as Notation from "@reprise/domain/testing/Notation"
import * as Host from "@reprise/recovery/Host"
import * as HostMemory from "@reprise/recovery/HostMemory"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionLock from "@reprise/storage/SessionLock"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as StoredSessionSource from "@reprise/storage/StoredSessionSource"
import { Context, Effect, Layer } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"

/** What `adopt` asks of the host, in order: first what a fork leaves out, then the rest. */
export const owned = ["Sessions.switchTo", "Recordings.rename", "Sessions.resetPointer", "CostTracker.restore"]
export const shared = [
  "AgentRegistry.restore",
  "Sessions.restoreMetadata",
  "Worktrees.enter",
  "SessionSource.adopt",
  "ContextCollapse.restore",
  "Mode.restore",
  "Skills.restore"
]

export const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`

/** What of `beside` stands in a log, as lines without their session. */
export const beside = {
  title: Metadata.customTitle("Fix the lamp"),
  tag: Metadata.tag("home"),
  agent: Metadata.agentSetting("reviewer"),
  agentName: Metadata.agentName("Ada"),
  mode: Metadata.mode("normal"),
  permissionMode: Metadata.permissionMode("plan"),
  worktree: Metadata.worktreeState({ worktreePath: "/trees/lamp", worktreeName: "lamp", worktreeBranch: "lamp" }),
  cost: Metadata.make("cost-state", { totalCostUSD: 1.5 }),
  files: {
    type: "file-history-snapshot",
    messageId: "u1",
    snapshot: {
      messageId: "u1",
      timestamp: "2026-01-01T00:00:00.000Z",
      trackedFileBackups: {
        "/w/a.ts": { backupFileName: "a@v1", version: 1 },
        "/w/new.ts": { backupFileName: null, version: 1 }
      }
    }
  },
  attribution: { type: "attribution-snapshot", messageId: "u1", surface: "cli" },
  replacement: {
    type: "content-replacement",
    replacements: [{ kind: "tool-result", toolUseId: "A", replacement: "short" }]
  },
  commit: {
    type: "marble-origami-commit",
    collapseId: "c1",
    summaryUuid: "sum1",
    summaryContent: "They greeted.",
    firstArchivedUuid: "u1",
    lastArchivedUuid: "a1"
  },
  staged: { type: "marble-origami-snapshot", staged: [] }
} as const

/** The bytes of a session: what is drawn, the messages of `bodies` last, then what stands beside. */
export const logOf = (
  sessionId: string,
  picture: string,
  others: ReadonlyArray<object> = [],
  more: object = {}
): string => {
  const drawn = Notation.entries(picture).map((entry) => ({ ...entry, sessionId, cwd: "/work", ...more }))
  return [...drawn, ...others.map((other) => ({ ...other, sessionId }))]
    .map((entry) => `${Line.encode(entry as Entry.Known)}\n`)
    .join("")
}

/** How a call goes wrong. */
export type Fault = "fail" | "die" | "interrupt" | "hang"

/** What was called, in order; `fault`: the call that goes wrong, and how. */
interface Watched {
  readonly calls: Array<string>
  readonly undone: Array<string>
  fault: { readonly call: string; readonly how: Fault } | undefined
  /** The call whose undo dies. */
  dying: string | undefined
}

const broken = (call: string, how: Fault): Effect.Effect<never, Host.HostFailed | SessionSource.SourceFailed> => {
  if (how === "die") return Effect.die(`${call} died`)
  if (how === "interrupt") return Effect.interrupt
  if (how === "hang") return Effect.never
  return call.startsWith("SessionSource")
    ? Effect.fail(new SessionSource.SourceFailed({ operation: "adopt", path: "", found: "as the test asked" }))
    : Effect.fail(new Host.HostFailed({ port: call, cause: "as the test asked" }))
}

/** Every function and effect of a port, with note taken of its call. */
const watch = <S extends object>(watched: Watched, name: string, port: S): S => {
  const around = (call: string, effect: Effect.Effect<any, any, any>) =>
    Effect.suspend(() => {
      watched.calls.push(call)
      if (watched.fault?.call === call) return broken(call, watched.fault.how)
      return Effect.map(effect, (answer) => noting(watched, call, answer))
    })
  return Object.fromEntries(
    Object.entries(port).map(([key, value]) => [
      key,
      typeof value === "function"
        ? (...args: ReadonlyArray<unknown>) => around(`${name}.${key}`, value(...args))
        : around(`${name}.${key}`, value)
    ])
  ) as S
}

/** An undo that takes note of itself. */
const noting = (watched: Watched, call: string, answer: any): any => {
  const note = (undo: Host.Undo) =>
    Effect.andThen(
      Effect.sync(() => watched.undone.push(call)),
      undo
    )
  if (Effect.isEffect(answer)) return note(answer as Host.Undo)
  return answer?.undo === undefined ? answer : { ...answer, undo: note(answer.undo) }
}

const keys = {
  Sessions: Host.Sessions,
  Recordings: Host.Recordings,
  CostTracker: Host.CostTracker,
  AgentRegistry: Host.AgentRegistry,
  Worktrees: Host.Worktrees,
  ContextCollapse: Host.ContextCollapse,
  Mode: Host.Mode,
  Skills: Host.Skills,
  SessionStartHooks: Host.SessionStartHooks,
  FileHistoryStore: Host.FileHistoryStore,
  PlanStore: Host.PlanStore,
  SessionSource: SessionSource.SessionSource
}

/** Plans and backups in files. */
const stores = (directory: string) => {
  const copyFile = (from: string, to: string): "copied" | "there" | "gone" => {
    if (fs.existsSync(to)) return "there"
    if (!fs.existsSync(from)) return "gone"
    fs.mkdirSync(path.dirname(to), { recursive: true })
    fs.linkSync(from, to)
    return "copied"
  }
  return Layer.merge(
    Layer.succeed(Host.PlanStore)({
      copy: ({ from, to }, plan) =>
        Effect.sync(() => {
          const target = path.join(directory, "plans", `${to.sessionId}.md`)
          const how = copyFile(path.join(directory, "plans", `${from}.md`), target)
          const isWritten = how === "gone" && plan.content !== undefined
          if (isWritten) {
            fs.mkdirSync(path.dirname(target), { recursive: true })
            fs.writeFileSync(target, plan.content)
          }
          return {
            copied: how === "copied" || isWritten ? 1 : 0,
            gone: how === "gone" && plan.slug !== undefined && !isWritten ? [plan.slug] : []
          }
        })
    }),
    Layer.succeed(Host.FileHistoryStore)({
      copy: ({ from, to }, history) =>
        Effect.sync(() => {
          const names = history.flatMap(({ backups }) =>
            [...backups.values()].flatMap((one) => one.backupFileName ?? [])
          )
          const how = names.map((name) =>
            copyFile(
              path.join(directory, "file-history", from, name),
              path.join(directory, "file-history", to.sessionId, name)
            )
          )
          return {
            copied: how.filter((one) => one === "copied").length,
            gone: names.filter((_, i) => how[i] === "gone")
          }
        })
    })
  )
}

/** A host in a directory of its own; the state of the rest begins as given. */
export const make = Effect.fnUntraced(function* (given: Partial<HostMemory.State> = {}) {
  const directory = yield* Temporary.directory
  const projects = path.join(directory, "projects")
  const watched: Watched = { calls: [], undone: [], fault: undefined, dying: undefined }
  const files = Layer.merge(FileEntryLog.layerWith({ projects }), SessionLock.layerWith({ projects }))
  const base = StoredSessionSource.layerWith({ version: "2.1.0" }).pipe(
    Layer.provideMerge(SessionWriter.layer),
    Layer.provideMerge(files),
    Layer.merge(
      HostMemory.layerWith({
        agents: new Set(["reviewer"]),
        worktrees: new Set(["/trees/lamp"]),
        recording: "old.cast",
        ...given
      }).pipe(Layer.merge(stores(directory)))
    )
  )
  const services = yield* Layer.build(base)
  const state = Context.get(services, HostMemory.HostMemory)
  const context = Object.entries(keys).reduce<Context.Context<never>>(
    (all, [name, key]) =>
      Context.add(
        all,
        key as Context.Key<any, any>,
        watch(watched, name, Context.get(services as any, key as any) as object)
      ),
    services as Context.Context<never>
  ) as unknown as typeof services
  const write = (file: string, content: string): string => {
    const at = path.join(directory, file)
    fs.mkdirSync(path.dirname(at), { recursive: true })
    fs.writeFileSync(at, content)
    return at
  }
  return {
    directory,
    state,
    watched,
    context,
    write,
    read: (file: string) => fs.readFileSync(path.join(directory, file), "utf8"),
    log: (sessionId: string, content: string) => write(`projects/-work/${sessionId}.jsonl`, content)
  }
})

/** What a session start hook says. */
export const greeting = Message.attachment({
  type: "hook_additional_context",
  content: ["It is Tuesday."],
  hookName: "SessionStart"
})
