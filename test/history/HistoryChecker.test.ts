/** The checker has teeth: it finds what a broken store does, and finds nothing in a right one. */
import { assert, describe, it } from "@effect/vitest"
import * as IngressStore from "@reprise/ingress/IngressStore"
import * as FaultProxy from "@reprise/ingress/testing/FaultProxy"
import * as HistoryChecker from "@reprise/ingress/testing/HistoryChecker"
import { Effect, type Layer } from "effect"
import * as Seeded from "../crash/seeded.ts"
import { Served, serve } from "../ingress/serving.ts"
import * as Broken from "./broken.ts"
import * as Workload from "./workload.ts"

/** What is found of a store when six writers have used it over a network that breaks. */
const found = (store: Layer.Layer<IngressStore.IngressStore>, operations: number) =>
  Effect.gen(function* () {
    const { port } = yield* Served
    const upstream = () => `http://127.0.0.1:${port}`
    const proxy = yield* FaultProxy.make({ upstream, faultOf: FaultProxy.seeded(7) })
    const workload = Workload.make({ urls: [proxy.url], operations, writers: 6, random: Seeded.make(7) })
    yield* workload.run
    const logs = yield* Workload.logsOf(yield* Workload.client([upstream()], 10_000))
    return HistoryChecker.check(workload.history, logs)
  }).pipe(Effect.scoped, Effect.provide(serve(store)))

describe("HistoryChecker", () => {
  it.live("finds nothing in a store that is right", () =>
    Effect.map(found(IngressStore.layerMemory, 200), (violations) => assert.deepStrictEqual(violations, []))
  )

  for (const { breaks, make, mistake } of Broken.all)
    it.live(`finds a store that ${mistake}`, () =>
      Effect.map(found(Broken.layer(make), 100), (violations) => {
        const rules = [...new Set(violations.map(({ rule }) => rule))]
        for (const rule of breaks) assert.include(rules, rule)
      })
    )
})
