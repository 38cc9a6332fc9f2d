/**
 * Agents: `reprise agents [SESSION]` shows the agents of a session below their lead, and with `--agent ID` one of them as
 * `reprise resume` shows a session.
 *
 *   session 5b0d7f21: 3 messages
 *     ac14  Explore: find the bug  12 messages, stopped in a turn
 *       b2f9  …
 *     (no id) 7f31  4 messages · inside the main log
 */
import type * as Line from "@reprise/domain/Line"
import type * as Projection from "@reprise/domain/Projection"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import * as Interruption from "@reprise/recovery/Interruption"
import * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as Subagents from "@reprise/recovery/Subagents"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionAgents from "@reprise/storage/SessionAgents"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
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
  for (const { agentId, log: own, meta } of yield* SessionAgents.list(log)) {
    const path = EntryLog.pathOf("/", own)
    found.push({ agentId, meta, source: path, ...(yield* lane(path, Subagents.agent)) })
  }
  for (const { root: _, ...one } of inline) found.push({ ...one, source: null })
  const session: Session = { file, sessionId, lead, agents: Subagents.tree(lead, found) }
  return session
})

const lane = (path: string, projection: Projection.Projection<Line.Located, Subagents.Lane>) =>
  TranscriptFile.fold(path, projection)

type Agent = Subagents.Agent<Where>

const all = (agents: ReadonlyArray<Agent>): ReadonlyArray<Agent> => agents.flatMap((one) => [one, ...all(one.agents)])

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

/**
 * The tree as people read it, without a line feed at the end.
 *
 * @category rendering
 * @since 0.1.0
 */
export const render = ({ agents, file, lead, sessionId }: Session, style: Style.Style = Style.plain()): string => {
  const short = Phrase.shorten(all(agents).map(nameOf))
  const line = (agent: Agent, depth: number): ReadonlyArray<string> => {
    const { agentId, inherited, interruption, source, state } = agent
    const name = `${agentId === null ? "(no id) " : ""}${agentId ?? short(nameOf(agent))}`
    const about = [typeOf(agent), descriptionOf(agent)].filter((part) => part !== undefined).join(": ")
    const counted = Phrase.times(state.conversation.length, "message") + endings[interruption.kind]
    const notes = [
      ...(source === null ? ["inside the main log"] : []),
      ...(inherited.length > 0 ? [`goes on from ${Phrase.times(inherited.length, "message")} above it`] : [])
    ]
    const start = `${"  ".repeat(depth)}${style.paint("title", Style.clean(name))}`
    const shown = [counted, ...notes].join(" · ")
    const room = Math.max(8, style.columns - 2 * depth - Style.width(name) - Style.width(shown) - 4)
    const middle = about === "" ? "" : `  ${Style.cut(Phrase.oneLine(about), room)}`
    return [`${start}${middle}  ${shown}`, ...agent.agents.flatMap((one) => line(one, depth + 1))]
  }
  const head = `session ${sessionId ?? file}: ${Phrase.times(lead.state.conversation.length, "message")}`
  const below = agents.length === 0 ? ["  No agents."] : agents.flatMap((one) => line(one, 1))
  return [Style.clean(head), ...below].join("\n")
}

const json = (agent: Agent): object => {
  const { agentId, agents, inherited, interruption, meta, source, spawn, state } = agent
  return {
    agentId,
    path: source,
    agentType: typeOf(agent) ?? null,
    description: descriptionOf(agent) ?? null,
    spawn: spawn === null ? null : { uuid: spawn.uuid, toolUseId: spawn.toolUseId ?? text(meta?.toolUseId) ?? null },
    conversation: state.conversation.map(({ uuid }) => uuid),
    inherited: inherited.map(({ uuid }) => uuid),
    interruption,
    findings: state.findings.length,
    agents: agents.map(json)
  }
}

/**
 * The tree as one line of JSON.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode = ({ agents, file, lead, sessionId }: Session): string => {
  const view = ModelMessages.make(lead.state)
  return Style.json({
    file,
    ok: true,
    sessionId,
    conversation: lead.state.conversation.map(({ uuid }) => uuid),
    interruption: Interruption.judge(lead.state.conversation, view),
    agents: agents.map(json)
  })
}

/** The agent that is called so. */
const find = Effect.fnUntraced(function* ({ agents, file }: Session, name: string) {
  const there = all(agents)
  const found = there.find((one) => nameOf(one) === name)
  return found ?? (yield* new NoAgent({ file, agent: name, agents: there.map(nameOf) }))
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
      if (Option.isNone(agent)) return yield* Output.line(json ? encode(session) : render(session, style))
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
