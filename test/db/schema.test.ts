import { expect, it } from 'vitest'
import { diffMigrationsToSchema, EMPTY_MIGRATION } from '../../prisma/schema-engine.ts'

it('has migrations that create exactly what schema.prisma describes', async () => {
  expect(await diffMigrationsToSchema()).toBe(EMPTY_MIGRATION)
})
