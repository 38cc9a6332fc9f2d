/**
 * SessionDigest: what a list of sessions says of one, in a form that a store can merge without reading it.
 *
 *   digest of a + b  =  { first: { ...b.first, ...a.first }, last: { ...a.last, ...b.last } }
 *
 * So a store keeps two JSON objects and merges them with what its language offers for that, in the statement that appends.
 * The rules of title and first prompt are those of SessionMetadata.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Projection from "@reprise/domain/Projection"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import * as ProjectPath from "@reprise/storage/ProjectPath"
import type { StreamLine } from "./StreamLine.ts"
/**
 * What lines say of their session: of `first` the earliest counts, of `last` the latest.
 *
 * @category models
 * @since 0.1.0
 */
export interface SessionDigest {
  readonly first: { readonly [K in First]?: string }
  readonly last: { readonly [K in Last]?: string }
}

/**
 * What a list says of a session; what its lines do not say is absent. Times are ISO 8601 as written in messages.
 *
 * @category models
 * @since 0.1.0
 */
export interface Summary {
  readonly title?: string
  readonly tag?: string
  readonly firstPrompt?: string
  readonly cwd?: string
  readonly gitBranch?: string
  readonly createdAt?: string
  readonly updatedAt?: string
}

/**
 * The digest of no line.
 *
 * @category constructors
 * @since 0.1.0
 */
export const empty: SessionDigest = { first: {}, last: {} }

/**
 * The digest of lines, in the order of the stream.
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = (lines: ReadonlyArray<Pick<StreamLine, "value">>): SessionDigest => {
  const entries = lines.flatMap(({ value }) => (isTyped(value) ? [Entry.read(value).entry] : []))
  if (entries.length === 0) return empty
  const metadata = Projection.fold(SessionMetadata.projection, entries)
  const prompts = entries.flatMap((entry) => (Entry.is("user")(entry) ? (promptOf(entry) ?? []) : []))
  const prompt = (kind: "prompt" | "command") => prompts.find((one) => one.kind === kind)?.text
  return {
    first: present({
      cwd: metadata.cwd,
      project: metadata.cwd === undefined ? undefined : ProjectPath.keyOf(metadata.cwd),
      createdAt: metadata.createdAt,
      prompt: prompt("prompt"),
      command: prompt("command")
    }),
    last: present({
      customTitle: metadata.customTitle,
      aiTitle: metadata.aiTitle,
      lastPrompt: metadata.lastPrompt,
      summary: metadata.summary,
      tag: metadata.tag,
      gitBranch: metadata.gitBranch,
      updatedAt: metadata.updatedAt
    })
  }
}

/**
 * The digest of what both say, one after the other.
 *
 * @category combinators
 * @since 0.1.0
 */
export const merge = (before: SessionDigest, after: SessionDigest): SessionDigest => ({
  first: { ...after.first, ...before.first },
  last: { ...before.last, ...after.last }
})

/**
 * The summary that a digest gives.
 *
 * @category getters
 * @since 0.1.0
 */
export const summaryOf = ({ first, last }: SessionDigest): Summary => {
  const firstPrompt = first.prompt ?? first.command
  return present({
    title: SessionMetadata.titleOf({ ...last, ...(firstPrompt !== undefined && { firstPrompt }) }),
    tag: last.tag,
    firstPrompt,
    cwd: first.cwd,
    gitBranch: last.gitBranch,
    createdAt: first.createdAt,
    updatedAt: last.updatedAt
  })
}

type First = "cwd" | "project" | "createdAt" | "prompt" | "command"
type Last = "customTitle" | "aiTitle" | "lastPrompt" | "summary" | "tag" | "gitBranch" | "updatedAt"

const isTyped = (value: StreamLine["value"]): value is Entry.Unknown => typeof value?.["type"] === "string"

const promptOf = (entry: Entry.OfKind<"user">) =>
  entry.isSidechain === true ? undefined : SessionMetadata.firstPromptOf(entry)

const present = <K extends string>(record: { readonly [P in K]: string | undefined }): { readonly [P in K]?: string } =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as { [P in K]?: string }
