import { expect, it } from 'vitest'
import { diffMigrationsToSchema, EMPTY_MIGRATION } from '../../prisma/schema-engine.ts'

// Prisma's engine brings a PostgreSQL of its own, in WebAssembly: that takes its time on a busy machine.
const TIMEOUT_MS = 90_000

it(
  'has migrations that make exactly what schema.prisma describes',
  async () => {
    expect(await diffMigrationsToSchema()).toBe(EMPTY_MIGRATION)
  },
  TIMEOUT_MS,
)
