import { expect, test } from 'vitest'
import demo from '../../src/demo/organization.json' with { type: 'json' }
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
