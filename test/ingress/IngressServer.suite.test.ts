/** The suite of stores through HTTP: what a store promises holds over the wire, whichever store it is. */
import { describe, layer } from "@effect/vitest"
import * as IngressStore from "@reprise/ingress/IngressStore"
import * as IngressStoreSuite from "@reprise/ingress/testing/IngressStoreSuite"
import { Layer } from "effect"
import * as Cluster from "../postgres/cluster.ts"
import * as RemoteStore from "./remoteStore.ts"
import { serve } from "./serving.ts"
import * as Stores from "./stores.ts"

/** The bytes of a page are a limit of the server, not of a request. */
const isOfStores = (name: string) => name.includes("a page holds as many bytes")

if (Cluster.binaries === undefined) console.log(Cluster.skipped)

for (const { isThere, name, store } of [
  { name: "layerMemory", store: IngressStore.layerMemory, isThere: true },
  { name: "SqliteIngressStore", store: Stores.sqlite, isThere: true },
  { name: "PostgresIngressStore", store: Stores.postgres, isThere: Cluster.binaries !== undefined }
]) {
  describe.skipIf(!isThere)(`${name}, through HTTP`, () => {
    layer(RemoteStore.layer.pipe(Layer.provide(serve(store))), { excludeTestServices: true })((it) => {
      for (const { name, run } of IngressStoreSuite.tests) if (!isOfStores(name)) it.effect(name, () => run)
    })
  })
}
