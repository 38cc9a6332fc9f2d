/**
 * A store that is a server somewhere: what the suite of stores asks goes over the wire, and comes back as a store would
 * say it. It knows the protocol and nothing of the client of the library.
 */
import type * as AppendChain from "@reprise/ingress/AppendChain"
import * as Cursor from "@reprise/ingress/Cursor"
import * as ErrorAnswer from "@reprise/ingress/ErrorAnswer"
import { type AppendError, NotFound, type ReadError } from "@reprise/ingress/IngressError"
import { type Head, IngressStore } from "@reprise/ingress/IngressStore"
import type { StreamAddress } from "@reprise/ingress/StreamAddress"
import * as StreamLine from "@reprise/ingress/StreamLine"
import * as Wire from "@reprise/ingress/Wire"
import { Effect, Layer, Result, Schedule, Stream } from "effect"
import { type Answer, ask, Served } from "./serving.ts"

const { headers: names, types } = Wire

/** The answer where it is a success, else the error that the body names. A HEAD has no body, so its status says it. */
const succeeded = <E extends AppendError | ReadError>(answer: Answer): Effect.Effect<Answer, E> => {
  if (answer.status < 300) return Effect.succeed(answer)
  const error = answer.text === "" && answer.status === 404 ? new NotFound() : ErrorAnswer.decode(answer.json)
  return error === undefined ? Effect.die(answer) : Effect.fail(error as E)
}

const endOf = ({ headers }: Answer) => ({
  uuid: headers.get(names.head) ?? undefined,
  seq: Number(headers.get(names.seq)),
  epoch: Number(headers.get(names.epoch))
})

const headOf = (json: any, epoch: number): Head => ({
  uuid: json.head ?? undefined,
  seq: json.seq,
  epoch,
  bytes: json.bytes ?? 0,
  updatedAt: json.updatedAt ?? 0
})

const bodyOf = ({ epoch, lines, profile }: AppendChain.Attempt<StreamLine.StreamLine>) =>
  profile === "compat"
    ? { body: lines[0]!.text, headers: { "content-type": types.json } }
    : {
        body: lines.map((line) => `${StreamLine.encode(line)}\n`).join(""),
        headers: { "content-type": types.ndjson, ...(epoch > 0 && { [names.writer]: Wire.writer("w", epoch) }) }
      }

const at = ({ sub }: StreamAddress) => (sub === "" ? {} : { [names.stream]: sub })

export const layer: Layer.Layer<IngressStore, never, Served> = Layer.effect(
  IngressStore,
  Effect.gen(function* () {
    const served = yield* Served
    const request = (method: string, path: string, tenant: string, options: object = {}) =>
      Effect.flatMap(ask(method, path, { token: served.token(tenant), ...options }), succeeded).pipe(
        Effect.provideService(Served, served)
      ) as Effect.Effect<Answer, any>
    const { headers } = yield* ask("GET", "/health")
    const backendId = headers.get(names.backend)!
    const cursor = (seq: number) => Cursor.make(backendId, seq)
    const head = (stream: StreamAddress) =>
      Effect.flatMap(request("GET", `/session/${stream.session}/streams`, stream.tenant), ({ json }) => {
        const found = json.streams.find((one: any) => one.stream === stream.sub)
        return found === undefined ? Effect.fail(new NotFound()) : Effect.succeed(headOf(found, json.epoch))
      })

    return IngressStore.of({
      backendId,
      append: (stream, attempt) => {
        const { body, headers } = bodyOf(attempt)
        const last = attempt.lastUuid === undefined ? {} : { [names.lastUuid]: attempt.lastUuid }
        const all = { ...headers, ...last, ...at(stream) }
        return Effect.map(
          request("PUT", `/session/${stream.session}`, stream.tenant, { body, headers: all }),
          (answer) => {
            const mismatch = answer.headers.get(names.mismatch)
            return {
              ...endOf(answer),
              duplicate: answer.status === 200,
              mismatched: mismatch === null ? [] : [decodeURIComponent(mismatch)]
            }
          }
        )
      },
      read: (stream, { after, fromBoundary, lines }) => {
        const query = `after=${cursor(after)}&limit=${lines}${fromBoundary === true ? "&after_last_compact=true" : ""}`
        const headers = { accept: types.ndjson, ...at(stream) }
        return Effect.map(
          request("GET", `/session/${stream.session}?${query}`, stream.tenant, { headers }),
          ({ text }) => {
            const all = text
              .trimEnd()
              .split("\n")
              .map((line) => Result.getOrThrow(StreamLine.decodeAnswer(line)))
            const checkpoint = all.at(-1) as StreamLine.Checkpoint
            const found = all.slice(0, -1) as ReadonlyArray<StreamLine.StreamLine>
            return {
              lines: found.map(({ key, text }, i) => ({ seq: after + 1 + i, key, text })),
              next: Cursor.seqOf(backendId, checkpoint.cursor)!,
              end: checkpoint.end
            }
          }
        )
      },
      head: (stream) =>
        Effect.zipWith(
          request("HEAD", `/session/${stream.session}`, stream.tenant, { headers: at(stream) }).pipe(
            // A HEAD cannot say why a session is gone.
            Effect.catchDefect(() => head(stream))
          ),
          head(stream),
          (answer, found) => ("status" in answer ? { ...found, ...endOf(answer as Answer) } : found)
        ),
      streams: (tenant, session) =>
        Effect.map(request("GET", `/session/${session}/streams`, tenant), ({ json }) =>
          json.streams.map((one: any) => ({ sub: one.stream, ...headOf(one, json.epoch) }))
        ),
      sessions: (tenant, { after, limit, project }) => {
        const from = after === undefined || after === "" ? "" : `&cursor=${Cursor.make(backendId, after)}`
        const of = project === undefined ? "" : `&project=${project}`
        return Effect.map(request("GET", `/sessions?limit=${limit}${from}${of}`, tenant), ({ json }) =>
          json.sessions.map(({ epoch, session, summary, ...end }: any) => {
            const { createdAt, cwd, firstPrompt, title, ...last } = summary
            const first = JSON.parse(JSON.stringify({ createdAt, cwd, prompt: firstPrompt }))
            return {
              session,
              digest: { first, last: JSON.parse(JSON.stringify({ ...last, customTitle: title })) },
              ...headOf(end, epoch)
            }
          })
        )
      },
      claim: (tenant, session, writerId) => {
        const body = JSON.stringify({ writerId })
        const headers = { "content-type": types.json }
        return Effect.map(request("POST", `/session/${session}/writers`, tenant, { body, headers }), ({ json }) =>
          headOf(json, json.epoch)
        )
      },
      remove: (tenant, session) => Effect.asVoid(request("DELETE", `/session/${session}`, tenant)),
      changes: (stream) => {
        const follow = Stream.unwrap(
          Effect.promise(async (signal) => {
            const response = await fetch(`${served.url}/session/${stream.session}?follow=ndjson&stream=${stream.sub}`, {
              headers: { authorization: `Bearer ${served.token(stream.tenant)}` },
              signal
            })
            if (response.status !== 200) return Stream.fail("not there yet")
            return Stream.as(Stream.fromAsyncIterable(response.body!, String), undefined)
          })
        )
        return Stream.concat(Stream.make(undefined), Stream.retry(follow, Schedule.spaced("20 millis"))).pipe(
          Stream.orDie
        )
      },
      probe: Effect.asVoid(request("GET", "/ready", "nobody"))
    })
  })
)
