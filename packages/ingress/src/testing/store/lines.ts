/**
 * What the promises of a store are written with: lines, attempts, and a stream of a tenant that nobody else has.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as assert from "node:assert/strict"
import { randomUUID } from "node:crypto"
import * as AppendChain from "../../AppendChain.ts"
import type { AppendError, ReadError } from "../../IngressError.ts"
import { IngressStore } from "../../IngressStore.ts"
import type { StreamAddress } from "../../StreamAddress.ts"
import * as StreamLine from "../../StreamLine.ts"

/** The main stream of a new tenant, so that tests may share a store. */
export const newStream = (session = "s1", sub = ""): StreamAddress => ({ tenant: `t-${randomUUID()}`, session, sub })

const made = (line: Result.Result<StreamLine.StreamLine, string>): StreamLine.StreamLine => Result.getOrThrow(line)

/**
 * A line by its name: `a` is an entry with uuid `a`, `.1` a tag with that key and no uuid, `a'` is `a` with other bytes,
 * `~x` a line that is no entry, `#c` a compact boundary with uuid `#c`.
 */
export const line = (name: string): StreamLine.StreamLine => {
  const key = name.replaceAll("'", "")
  if (name.startsWith("~")) return StreamLine.ofBytes(new TextEncoder().encode(`{"torn":"${name}`), key)
  if (name.startsWith(".")) return made(StreamLine.ofEntry(`{"type":"tag","tag":${JSON.stringify(name)}}`, key))
  const system = `"type":"system","subtype":"compact_boundary","compactMetadata":{}`
  const type = name.startsWith("#") ? system : `"type":"user","message":{"role":"user","content":"${name}"}`
  return made(StreamLine.ofEntry(`{${type},"uuid":"${key}"}`))
}

/** Lines by their names, a blank between them. */
export const lines = (names: string): ReadonlyArray<StreamLine.StreamLine> =>
  names.split(" ").flatMap((name) => (name === "" ? [] : [line(name)]))

/** One line of the compat profile. */
export const compat = (name: string, lastUuid?: string) => AppendChain.compat(line(name), lastUuid)

/** A batch of the native profile. */
export const native = (names: string, lastUuid?: string, epoch = 0) =>
  AppendChain.native(lines(names), { lastUuid, epoch })

/** Appends to a stream of the store. */
export const append = (stream: StreamAddress, attempt: AppendChain.Attempt<StreamLine.StreamLine>) =>
  IngressStore.use((store) => store.append(stream, attempt))

/** Every line of a stream, in pages of the size. */
export const readAll = (stream: StreamAddress, size = 1000, fromBoundary = false) =>
  Effect.gen(function* () {
    const store = yield* IngressStore
    const found: Array<StreamLine.Stored> = []
    for (let after = 0; ;) {
      const page = yield* store.read(stream, { after, lines: size, bytes: 1 << 20, fromBoundary })
      found.push(...page.lines)
      if (page.end) return found
      assert.ok(page.next > after, "a page that is not the last one goes forward")
      after = page.next
    }
  })

/** The keys of a stream, a blank between them. */
export const keys = (stream: StreamAddress, fromBoundary = false) =>
  Effect.map(readAll(stream, 1000, fromBoundary), (all) => all.map(({ key }) => key).join(" "))

/** The stream holds these lines, and no other. */
export const holds = (stream: StreamAddress, names: string) =>
  Effect.map(readAll(stream), (all) => {
    assert.deepEqual(
      all.map(({ key, text }) => ({ key, text })),
      lines(names).map(({ key, text }) => ({ key, text }))
    )
    assert.deepEqual(
      all.map(({ seq }) => seq),
      all.map((_, i) => i + 1)
    )
  })

/** Nothing of the session is there. */
export const isUnknown = (stream: StreamAddress) =>
  fails(
    IngressStore.use((store) => store.head(stream)),
    "NotFound"
  )

/** It fails in this way; gives the error. */
export const fails = <A, E extends AppendError | ReadError, R, Tag extends E["_tag"]>(
  effect: Effect.Effect<A, E, R>,
  tag: Tag
): Effect.Effect<Extract<E, { readonly _tag: Tag }>, E, R> =>
  Effect.flatMap(Effect.result(effect), (result) => {
    if (Result.isSuccess(result)) return assert.fail(`expected ${tag}, found a success`)
    assert.equal(result.failure._tag, tag)
    return Effect.succeed(result.failure as Extract<E, { readonly _tag: Tag }>)
  })
