import { expect, it } from 'vitest'
import { nextTimestamps, splitDraft } from '../../prisma/split-draft.ts'

const COLUMN = '-- AlterTable\nALTER TABLE "invites" ADD COLUMN     "note" TEXT;'
const TABLE =
  '-- CreateTable\nCREATE TABLE "notes" (\n    "id" UUID NOT NULL,\n\n    CONSTRAINT "notes_pkey" PRIMARY KEY ("id")\n);'
const INDEX_OF_NEW = '-- CreateIndex\nCREATE INDEX "notes_id_idx" ON "notes"("id");'
const INDEX = '-- CreateIndex\nCREATE INDEX "invites_note_idx" ON "invites"("organization_id", "note");'
const UNIQUE = '-- CreateIndex\nCREATE UNIQUE INDEX "invites_note_key" ON "invites"("note");'

it('drafts each index on an existing table as its own migration, outside of a transaction and after the rest', () => {
  expect(splitDraft([COLUMN, TABLE, INDEX, INDEX_OF_NEW, UNIQUE].join('\n\n'))).toEqual([
    { sql: [COLUMN, TABLE, INDEX_OF_NEW].join('\n\n') },
    {
      index: 'invites_note_idx',
      sql: '-- no-transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_note_idx" ON "invites"("organization_id", "note");',
    },
    {
      index: 'invites_note_key',
      sql: '-- no-transaction\nCREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "invites_note_key" ON "invites"("note");',
    },
  ])
})

it('drafts a single migration if there is nothing else', () => {
  expect(splitDraft(INDEX)).toHaveLength(1)
  expect(splitDraft(COLUMN)).toEqual([{ sql: COLUMN }])
})

it('names drafts in their order, after all existing migrations, even if a clock was ahead', () => {
  const now = new Date('2026-11-23T07:30:00.500Z')
  const names = ['20261101000000_init', 'migration_lock.toml']
  expect(nextTimestamps(names, now, 2)).toEqual(['20261123073000', '20261123073001'])
  expect(nextTimestamps([...names, '20261231235959_ahead'], now, 2)).toEqual(['20270101000000', '20270101000001'])
})
