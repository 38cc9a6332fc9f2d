/**
 * Agents: `reprise agents [SESSION]` shows the agents of a session below their lead, and with `--agent ID` one of them as
 * `reprise resume` shows a session.
 *
 *   session 5b0d7f21: 3 messages
 *     ac14  Explore: find the bug  12 messages, stopped in a turn
 *       b2f9  …
 *     (no id) 7f31  4 messages · inside the main log
 *
 * 1. An agent whose log cannot be read is told, and costs no other one.
 * 2. Agents may be nested as deep as somebody made them: no walk over them recurses.
 */
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import * as Interruption from "@reprise/recovery/Interruption"
import * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as Subagents from "@reprise/recovery/Subagents"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionAgents from "@reprise/storage/SessionAgents"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as path from "node:path"
import * as ErrorJson from "./ErrorJson.ts"
import * as Flags from "./Flags.ts"
import * as Output from "./Output.ts"
import * as Phrase from "./Phrase.ts"
import * as Projects from "./Projects.ts"
import * as ResumeJson from "./ResumeJson.ts"
import * as ResumeText from "./ResumeText.ts"
import * as SessionFile from "./SessionFile.ts"
import * as SessionName from "./SessionName.ts"
import * as Style from "./Style.ts"
import * as TranscriptFile from "./TranscriptFile.ts"
import * as Unread from "./Unread.ts"

/**
 * No agent of the session has the id.
 *
 * @category errors
 * @since 0.1.0
 */
export class NoAgent extends Schema.TaggedError<NoAgent>()("NoAgent", {
  file: Schema.String,
  agent: Schema.String,
  agents: Schema.Array(Schema.String)
}) {
  override get message(): string {
    const there = this.agents.length === 0 ? "none at all" : this.agents.join(", ")
    return `${this.file}: expected an agent of this session, found none that is ${this.agent}; there are ${there}`
  }
}

/** The log of an agent, or null: it stands in the main one. */
type Where = string | null

/**
 * A session and its agents.
 *
 * @category models
 * @since 0.1.0
 */
export interface Session {
  readonly file: string
  readonly sessionId: string | null
  readonly lead: Subagents.Lane
  readonly agents: ReadonlyArray<Subagents.Agent<Where>>
  /** Logs of agents that could not be read. */
  readonly unread: ReadonlyArray<TranscriptFile.TranscriptUnreadable>
}

/**
 * Reads a session with all of its agents.
 *
 * @category running
 * @since 0.1.0
 */
export const read = Effect.fn("Agents.read")(function* (file: string) {
  const { log, sessionId } = yield* SessionFile.find(file)
  const { inline, ...lead } = yield* TranscriptFile.fold(file, Subagents.lead)
  const found: Array<Subagents.Found<Where>> = []
  const unread: Array<TranscriptFile.TranscriptUnreadable> = []
  for (const { agentId, log: own, meta } of yield* SessionAgents.list(log)) {
    const source = EntryLog.pathOf("/", own)
    const lane = yield* Effect.result(TranscriptFile.fold(source, Subagents.agent))
    if (Result.isFailure(lane)) unread.push(lane.failure)
    else found.push({ agentId, meta, source, ...lane.success })
  }
  for (const { root: _, ...one } of inline) found.push({ ...one, source: null })
  const session: Session = { file, sessionId, lead, agents: Subagents.tree(lead, found), unread }
  return session
})

type Agent = Subagents.Agent<Where>

/** Agents with those below them, each before its own; how deep each of them is. */
const all = (agents: ReadonlyArray<Agent>): ReadonlyArray<readonly [agent: Agent, depth: number]> => {
  const rows: Array<readonly [Agent, number]> = []
  const waiting = agents.toReversed().map((one): readonly [Agent, number] => [one, 1])
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    rows.push(row)
    const [{ agents }, depth] = row
    for (const own of agents.toReversed()) waiting.push([own, depth + 1])
  }
  return rows
}

/** What an agent is called: by its id, else by the id at its root, which is no agent's. */
const nameOf = ({ agentId, state }: Agent): string => agentId ?? state.conversation[0]?.uuid ?? ""

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

const typeOf = ({ meta, spawn }: Agent): string | undefined => text(meta?.agentType) ?? spawn?.agentType

const descriptionOf = ({ meta, state }: Agent): string | undefined =>
  text(meta?.description) ??
  state.conversation
    .map(({ entry }) => (entry.type === "user" ? SessionMetadata.firstPromptOf(entry)?.text : undefined))
    .find((prompt) => prompt !== undefined)

const endings = {
  none: "",
  "interrupted-prompt": ", stopped before its reply",
  "interrupted-turn": ", stopped in a turn"
} as const

/** So deep are agents indented; how much deeper one is, is told. */
const deepest = 20

const indented = (depth: number): string =>
  "  ".repeat(Math.min(depth, deepest)) + (depth > deepest ? `+${depth - deepest} ` : "")

/**
 * The tree as people read it, without a line feed at the end.
 *
 * @category rendering
 * @since 0.1.0
 */
export const render = (session: Session, style: Style.Style = Style.plain()): string => {
  const { file, lead, sessionId, unread } = session
  const agents = all(session.agents)
  const short = Phrase.shorten(agents.map(([agent]) => nameOf(agent)))
  const line = ([agent, depth]: readonly [Agent, number]): string => {
    const { agentId, inherited, interruption, source, state } = agent
    const name = `${agentId === null ? "(no id) " : ""}${agentId ?? short(nameOf(agent))}`
    const about = [typeOf(agent), descriptionOf(agent)].filter((part) => part !== undefined).join(": ")
    const counted = Phrase.times(state.conversation.length, "message") + endings[interruption.kind]
    const notes = [
      ...(source === null ? ["inside the main log"] : []),
      ...(inherited.length > 0 ? [`goes on from ${Phrase.times(inherited.length, "message")} above it`] : [])
    ]
    const indent = indented(depth)
    const start = `${indent}${style.paint("title", Style.clean(name))}`
    const shown = [counted, ...notes].join(" · ")
    const room = Math.max(8, style.columns - indent.length - Style.width(name) - Style.width(shown) - 4)
    const middle = about === "" ? "" : `  ${Style.cut(Phrase.oneLine(about), room)}`
    return `${start}${middle}  ${shown}`
  }
  const head = `session ${sessionId ?? file}: ${Phrase.times(lead.state.conversation.length, "message")}`
  const below = agents.length + unread.length === 0 ? ["  No agents."] : agents.map(line)
  const others = unread.map((error) => `  ${ResumeText.renderError(error, style)}`)
  return [Style.clean(head), ...below, ...others].join("\n")
}

/** An agent without those below it. */
const json = (agent: Agent): object => {
  const { agentId, inherited, interruption, meta, source, spawn, state } = agent
  return {
    agentId,
    path: source,
    agentType: typeOf(agent) ?? null,
    description: descriptionOf(agent) ?? null,
    spawn: spawn === null ? null : { uuid: spawn.uuid, toolUseId: spawn.toolUseId ?? text(meta?.toolUseId) ?? null },
    conversation: state.conversation.map(({ uuid }) => uuid),
    inherited: inherited.map(({ uuid }) => uuid),
    interruption,
    findings: state.findings.length
  }
}

/** An object with agents below it, and theirs below them. */
const nested = (top: object, agents: ReadonlyArray<Agent>): string => {
  const parts: Array<string> = []
  const waiting: Array<Agent | string> = []
  const open = (one: object, below: ReadonlyArray<Agent>): void => {
    parts.push(`${Style.json(one).slice(0, -1)},"agents":[`)
    waiting.push("]}")
    for (const [i, own] of below.toReversed().entries()) waiting.push(...(i === 0 ? [own] : [",", own]))
  }
  open(top, agents)
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === "string") parts.push(next)
    else open(json(next), next.agents)
  }
  return parts.join("")
}

/**
 * The tree as one line of JSON, and one for each log that could not be read.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode = ({ agents, file, lead, sessionId, unread }: Session): string => {
  const view = ModelMessages.make(lead.state)
  const session = {
    file,
    ok: true,
    sessionId,
    conversation: lead.state.conversation.map(({ uuid }) => uuid),
    interruption: Interruption.judge(lead.state.conversation, view)
  }
  return [nested(session, agents), ...unread.map((error) => ErrorJson.encode(error.file, error))].join("\n")
}

/** The agent that is called so. */
const find = Effect.fnUntraced(function* ({ agents, file, unread }: Session, name: string) {
  const there = all(agents).map(([agent]) => agent)
  const found = there.find((one) => nameOf(one) === name)
  if (found !== undefined) return found
  const own = unread.find((error) => path.basename(error.file) === `agent-${name}.jsonl`)
  return yield* own ?? new NoAgent({ file, agent: name, agents: there.map(nameOf) })
})

/** One agent, as a session of its own. */
const resumed = ({ file, sessionId }: Session, { interruption, source, state, view }: Agent): ResumeJson.Resumed => ({
  file: source ?? file,
  sessionId,
  state,
  progress: 0,
  view,
  interruption,
  findings: [...state.findings, ...view.findings]
})

/**
 * `reprise agents`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "agents",
  {
    session: SessionName.orLatest,
    agent: Flags.text("agent", "ID", "Show what this agent recovers to, and what makes it go on"),
    json: Flags.json("Answer with one line of JSON"),
    projects: Projects.flags.projects
  },
  Effect.fn(
    function* ({ agent, json, session: name }) {
      const style = yield* Style.current
      const session = yield* read(yield* SessionName.fileOf(name))
      if (Option.isNone(agent)) {
        yield* Output.line(json ? encode(session) : render(session, style))
        if (session.unread.length > 0) return yield* new Unread.FilesUnreadable({ count: session.unread.length })
        return
      }
      const one = resumed(session, yield* find(session, agent.value))
      yield* Output.line(json ? ResumeJson.encode(one) : ResumeText.render(one, style))
    },
    Projects.within,
    Unread.reporting
  )
).pipe(
  Command.withDescription("Show the agents of a session as a tree, or what one of them recovers to."),
  Command.withExamples([
    { command: "reprise agents 7d1f0c52", description: "Show the tree" },
    { command: "reprise agents 7d1f0c52 --agent ID", description: "Show one agent as a session" }
  ])
)
