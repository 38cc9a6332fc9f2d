/** The suite of stores through HTTP: what a store promises holds over the wire. */
import { layer } from "@effect/vitest"
import * as IngressStore from "@reprise/ingress/IngressStore"
import * as IngressStoreSuite from "@reprise/ingress/testing/IngressStoreSuite"
import { Layer } from "effect"
import * as RemoteStore from "./remoteStore.ts"
import { serve } from "./serving.ts"

/** The bytes of a page are a limit of the server, not of a request. */
const isOfStores = (name: string) => name.includes("a page holds as many bytes")

layer(RemoteStore.layer.pipe(Layer.provide(serve(IngressStore.layerMemory))), { excludeTestServices: true })(
  "layerMemory, through HTTP",
  (it) => {
    for (const { name, run } of IngressStoreSuite.tests) if (!isOfStores(name)) it.effect(name, () => run)
  }
)
