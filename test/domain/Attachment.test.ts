import { assert, describe, it } from "@effect/vitest"
import * as Attachment from "@reprise/domain/Attachment"
import * as Content from "@reprise/domain/Content"
import * as Schema from "effect/Schema"

const kinds = Object.keys(Attachment.schemas) as ReadonlyArray<Attachment.Kind>

/** The bodies that mean nothing without some keys. */
const required: { readonly [K in Attachment.Kind]?: object } = {
  hook_success: { hookName: "Stop", hookEvent: "Stop", toolUseID: "x", content: "" },
  hook_additional_context: { content: ["a"] },
  hook_system_message: { content: "a" },
  queued_command: { prompt: "a" }
}

describe("Attachment.read", () => {
  it("gives the object that was read, known or not", () => {
    for (const body of [
      { type: "file", filename: 7 },
      { type: "someday", x: 1 },
      { type: "date", date: "2026-10-01" }
    ]) {
      assert.strictEqual<unknown>(Attachment.read(body), body)
    }
  })

  it("finds no body in null, in nothing and in what has no type", () => {
    for (const attachment of [null, undefined, 7, "file", [], {}, { type: 7 }]) {
      assert.isUndefined(Attachment.read(attachment))
    }
  })
})

describe("Attachment.is", () => {
  it("asks for the type, and for the keys without which a body means nothing", () => {
    for (const kind of kinds) {
      assert.isTrue(Attachment.is(kind, { type: kind, ...required[kind] }), kind)
      assert.strictEqual(Attachment.is(kind, { type: kind }), required[kind] === undefined, kind)
      assert.isFalse(Attachment.is(kind, { type: "someday", ...required[kind] }), kind)
    }
  })

  it.prop("agrees with the schemas and is total", { value: Schema.Json, content: Schema.Json }, (sample) => {
    for (const kind of kinds) {
      const is = Schema.is(Attachment.schemas[kind] as Schema.Schema<unknown>)
      for (const body of [sample.value, { type: kind, content: sample.content, prompt: sample.content }]) {
        assert.strictEqual(Attachment.is(kind, body), is(body))
      }
    }
  })
})

describe("Attachment.text", () => {
  const says = (body: object, ...parts: ReadonlyArray<string>) => {
    const text = Attachment.text(body)
    for (const part of parts) assert.include(text ?? "", part, JSON.stringify(body))
    return text ?? ""
  }

  it("what people wrote is sent as it is", () => {
    assert.strictEqual(Attachment.text({ type: "queued_command", prompt: "and now?" }), "and now?")
    assert.strictEqual(
      Attachment.text({ type: "queued_command", prompt: [Content.text("look"), Content.image("image/png", "AAAA")] }),
      "look"
    )
  })

  it("everything else is marked as a reminder", () => {
    const text = says({ type: "critical_system_reminder", content: "Mind the gap." })
    assert.strictEqual(text, "<system-reminder>\nMind the gap.\n</system-reminder>")
  })

  it("hooks: added context, and the output of the two hooks that print context", () => {
    says({ type: "hook_additional_context", hookName: "PreToolUse:Bash", content: ["one", "two"] }, "one\ntwo")
    says({ type: "hook_additional_context", content: "one" }, "one")
    const output = { type: "hook_success", hookName: "x", toolUseID: "y", content: "branch is main" }
    says({ ...output, hookEvent: "SessionStart" }, "branch is main")
    says({ ...output, hookEvent: "UserPromptSubmit" }, "branch is main")
    assert.isUndefined(Attachment.text({ ...output, hookEvent: "PostToolUse" }))
    assert.isUndefined(Attachment.text({ ...output, hookEvent: "SessionStart", content: "" }))
  })

  it("files", () => {
    const content = { type: "text", file: { filePath: "/w/a.ts", content: "export {}", numLines: 1 } }
    says({ type: "file", filename: "/w/a.ts", content }, "/w/a.ts", "export {}")
    says({ type: "already_read_file", filename: "/w/a.ts", content }, "/w/a.ts", "export {}")
    says({ type: "directory", path: "/w", content: "a.ts\nb.ts" }, "/w", "b.ts")
    says({ type: "compact_file_reference", filename: "/w/a.ts" }, "/w/a.ts")
    says({ type: "edited_text_file", filename: "/w/a.ts", snippet: "1\tx" }, "/w/a.ts", "1\tx")
    says({ type: "opened_file_in_ide", filename: "/w/a.ts" }, "/w/a.ts")
    says({ type: "selected_lines_in_ide", filename: "/w/a.ts", content: "x", lineStart: 2, lineEnd: 3 }, "2-3", "x")
    says({ type: "nested_memory", path: "/w/M.md", content: { content: "Be brief." } }, "/w/M.md", "Be brief.")
    says({ type: "instructions", files: [{ path: "/w/M.md", content: "Be brief." }] }, "/w/M.md", "Be brief.")
    says({ type: "read_truncation_notice", banner: "cut at 2000 lines" }, "cut at 2000 lines")
    const diagnostics = [{ message: "unused x", severity: "Warning", range: {} }]
    says({ type: "diagnostics", files: [{ uri: "/w/a.ts", diagnostics }] }, "/w/a.ts", "Warning: unused x")
  })

  it("a file that is no text says nothing", () => {
    assert.isUndefined(Attachment.text({ type: "file", filename: "a.png", content: { type: "image", file: {} } }))
    assert.isUndefined(Attachment.text({ type: "file", filename: "a.ts" }))
  })

  it("skills, tools and agents", () => {
    says({ type: "skill_listing", content: "- plan: makes plans" }, "- plan: makes plans")
    says({ type: "invoked_skills", skills: [{ name: "plan", content: "Plan first." }] }, "plan", "Plan first.")
    says(
      { type: "deferred_tools_delta", addedNames: ["A"], addedLines: ["A: does a"], removedNames: ["B"] },
      "A: does a",
      "B"
    )
    says({ type: "deferred_tools_delta", addedNames: ["A"] }, "A")
    says({ type: "agent_listing_delta", addedTypes: ["r"], addedLines: ["- r: reviews"] }, "- r: reviews")
    says({ type: "mcp_instructions_delta", addedBlocks: ["## s\nUse it."], removedNames: [] }, "Use it.")
    assert.isUndefined(Attachment.text({ type: "deferred_tools_delta", addedNames: [], removedNames: [] }))
  })

  it("reminders and modes", () => {
    says({ type: "task_reminder", content: [{ id: "1", status: "pending", subject: "Test" }] }, "#1 [pending] Test")
    says({ type: "todo_reminder", content: [{ content: "Test", status: "completed" }] }, "[completed] Test")
    assert.isUndefined(Attachment.text({ type: "todo_reminder", content: [], itemCount: 0 }))
    says({ type: "total_tokens_reminder", text: "1000 tokens left" }, "1000 tokens left")
    says({ type: "plan_mode", planFilePath: "/w/plan.md" }, "/w/plan.md")
    says({ type: "plan_mode" }, "Plan mode is on")
    says({ type: "plan_mode_exit" }, "Plan mode is off")
    says({ type: "plan_mode_reentry", planFilePath: "/w/plan.md" }, "/w/plan.md")
    says({ type: "plan_file_reference", planFilePath: "/w/plan.md", planContent: "1. Test" }, "/w/plan.md", "1. Test")
    says({ type: "auto_mode", reminderType: "full" }, "Auto mode")
    says({ type: "date_change", newDate: "2026-10-02" }, "2026-10-02")
    says({ type: "date", date: "2026-10-02" }, "2026-10-02")
    says({ type: "model", text: "You are a model." }, "You are a model.")
  })

  it("bodies for people and programs say nothing, and neither do unknown and ill-formed ones", () => {
    for (const body of [
      { type: "hook_system_message", content: "shown to people" },
      { type: "hook_cancelled", command: "x" },
      { type: "command_permissions", allowedTools: ["Bash"] },
      { type: "prompt_snapshot", systemPrompt: ["x"] },
      { type: "someday", content: "x", text: "x" },
      { type: "critical_system_reminder", content: 7 },
      { type: "critical_system_reminder", content: " \n" },
      { type: "__proto__", content: "x" }
    ]) {
      assert.isUndefined(Attachment.text(body))
      assert.deepStrictEqual(Attachment.content(body), [])
    }
  })

  it("a key that is missing leaves no trace", () => {
    for (const body of [
      { type: "todo_reminder", content: [{}] },
      { type: "task_reminder", content: [{}] },
      { type: "diagnostics", files: [{ diagnostics: [{}] }] },
      { type: "selected_lines_in_ide", content: "x" },
      { type: "invoked_skills", skills: [{ content: "x" }, {}] },
      { type: "instructions", files: [{ content: "x" }] },
      { type: "nested_memory", content: { content: "x" } }
    ]) {
      assert.notInclude(says(body), "undefined")
    }
  })

  it.prop("is total, and never blank", { value: Schema.Json }, ({ value }) => {
    for (const kind of kinds) {
      for (const body of [value, { type: kind, ...required[kind], content: value, text: value, files: value }]) {
        assert.notStrictEqual(Attachment.text(body)?.trim(), "")
      }
    }
  })
})

describe("Attachment.content", () => {
  it("keeps the blocks of a queued prompt, images included", () => {
    const prompt = [Content.text("look"), Content.image("image/png", "AAAA")]
    assert.strictEqual<unknown>(Attachment.content({ type: "queued_command", prompt }), prompt)
  })

  it("is one text block for any other body that says something", () => {
    const body = { type: "date", date: "2026-10-02" }
    assert.deepStrictEqual(Attachment.content(body), [Content.text(Attachment.text(body) ?? "")])
  })
})
