import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/setup.ts"],
    globalSetup: ["test/postgres/shared.ts"],
    // Files share a worker, which loads the modules once: half of the time of a run went into that.
    isolate: false,
    // Property tests on a busy two-core machine.
    testTimeout: 20_000,
    coverage: {
      provider: "v8",
      include: ["packages/*/src/**/*.ts"],
      reporter: ["text", "html"]
    }
  }
})
