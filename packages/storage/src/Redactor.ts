/**
 * Redactor: a program's last look at what it is about to write.
 *
 *   entry ─ every string ─▶ Redactor ─▶ line ─▶ disk, and from there the network
 *
 * 1. It sees every string of an entry, however deep, also the keys that are no plain names, such as paths.
 * 2. It does not see what holds the log together: ids, links between entries, discriminants, times. A log without those
 *    could not be recovered.
 * 3. It should leave its own output as it is: a title may pass it more than once.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Context from "effect/Context"

/**
 * A string that is to be written to the one that is written instead; `path` leads to it from the entry.
 *
 * @category models
 * @since 0.1.0
 */
export type Redact = (text: string, path: ReadonlyArray<string | number>) => string

/**
 * The redactor in use; by default there is none.
 *
 * @category references
 * @since 0.1.0
 */
export const Redactor: Context.Reference<Redact | undefined> = Context.Reference<Redact | undefined>(
  "@reprise/storage/Redactor",
  { defaultValue: () => undefined }
)

/** What holds a log together: keys of an entry, of its message, of content blocks, of boundaries. */
const structural = new Set(
  (
    "type subtype uuid parentUuid logicalParentUuid sessionId agentId timestamp messageId leafUuid promptId requestId " +
    "sourceToolAssistantUUID sourceToolUseID interruptedMessageId version userType role model"
  ).split(" ")
)
const linking = new Set("id type tool_use_id role model stop_reason media_type signature".split(" "))
const linkLists = new Set("removedUuids uuids allUuids headUuid anchorUuid tailUuid".split(" "))

/**
 * The entry as it is written; itself when nothing of it changes.
 *
 * @category combinators
 * @since 0.1.0
 */
export const redact = <E extends Entry.Known | Entry.Unknown>(entry: E, redact: Redact | undefined): E =>
  redact === undefined ? entry : (walk(Entry.original(entry), [], redact) as E)

const walk = (value: unknown, path: ReadonlyArray<string | number>, redact: Redact): unknown => {
  if (typeof value === "string") return isStructural(path) ? value : said(redact(value, path))
  if (Array.isArray(value)) {
    const items = value.map((item, i) => walk(item, [...path, i], redact))
    return items.every((item, i) => item === value[i]) ? value : items
  }
  if (typeof value !== "object" || value === null) return value
  let changed = false
  const entries = Object.entries(value).map(([key, item]) => {
    const to: readonly [string, unknown] = [
      isPlain.test(key) ? key : said(redact(key, [...path, key])),
      walk(item, [...path, key], redact)
    ]
    changed ||= to[0] !== key || to[1] !== item
    return to
  })
  return changed ? Object.fromEntries(entries) : value
}

/** Nothing instead of a text would be a message that says nothing. */
const said = (text: unknown): string => {
  if (typeof text === "string") return text
  throw new TypeError("the redactor gave no text; give an empty one to remove all")
}

const isPlain = /^[A-Za-z_][A-Za-z0-9_]*$/

/** By where it stands: `uuid` of the entry, `message.id`, `message.content[0].tool_use_id`, `…Metadata.…uuids[1]`. */
const isStructural = (path: ReadonlyArray<string | number>): boolean => {
  const [first, second, third, fourth] = path
  if (path.length === 1) return structural.has(String(first))
  if (first === "message" && path.length === 2) return linking.has(String(second))
  if (first === "message" && second === "content" && path.length === 4) {
    return typeof third === "number" && linking.has(String(fourth))
  }
  // Blocks within a result.
  if (first === "message" && typeof path.at(-2) === "number" && path.at(-1) === "type") return true
  return String(first).endsWith("Metadata") && path.some((part) => linkLists.has(String(part)))
}
