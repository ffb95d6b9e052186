import { expect, test } from 'vitest'
import { loadDemo } from '../../src/demo/load.ts'
import demo from '../../src/demo/organization.json' with { type: 'json' }
import { INVITE_STATUSES } from '../../src/domain/invites/invites.ts'
import { importDocument } from '../../src/import/load.ts'
import { readDocument } from '../../src/import/read.ts'
import { startServiceForTest } from '../support/service.ts'

test('the organization of a first start loads, and has every kind of question and member', async () => {
  const { system, db } = await startServiceForTest()
  const { organizations } = await importDocument(system, readDocument(demo))
  expect(organizations).toEqual([{ id: expect.any(String), name: 'Northwind Talent' }])
  const kinds = ['text', 'audio', 'video']
  const questions = await db.question.findMany()
  expect(new Set(questions.map(({ inputType }) => inputType))).toEqual(new Set(kinds))
  expect(new Set(questions.map(({ responseType }) => responseType))).toEqual(new Set(kinds))
  const members = await db.member.findMany()
  expect(new Set(members.flatMap(({ roles }) => roles))).toEqual(new Set(['admin', 'grader', 'client']))
  expect(members.filter(({ status }) => status === 'inactive')).toHaveLength(1)
})

test('the demo has invites of the last month in every state, stamped in order, and mails that failed; none is queued for them', async () => {
  const { system, db } = await startServiceForTest()
  await loadDemo(system)
  const past = await db.invite.findMany({
    where: { recipientEmail: { not: 'candidate@example.com' } },
    include: { emails: true },
  })
  expect(new Set(past.map(({ status }) => status))).toEqual(new Set(INVITE_STATUSES))
  expect(new Set(past.map(({ recipientEmail }) => recipientEmail)).size).toBe(past.length)
  for (const { createdAt, acceptedAt, startedAt, completedAt, revokedAt } of past) {
    const stamps = [createdAt, acceptedAt, startedAt, completedAt, revokedAt, system.deps.clock()].filter((at) => at !== null)
    expect(stamps).toEqual(stamps.toSorted((a, b) => a.getTime() - b.getTime()))
  }
  expect(new Set(past.flatMap(({ emails }) => emails.map(({ state }) => state)))).toEqual(new Set(['captured', 'failed']))
})
