// The programs turn the schema compiler on, the libraries never do: so the tests do it for them, before any schema is used.
import "effect/schema/SchemaJITCompiler/enable"
