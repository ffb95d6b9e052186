import { expect, it } from 'vitest'
import { listQueuedAssessments } from '../../../../src/domain/submissions/grading/queue.ts'
import { makeSubmitted } from '../../../support/grading.ts'
import { recordQueries } from '../../../support/queries.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile({ ROLE: 'api' })

it('finds assessments with waiting submissions by an index, although most assessments have none', async () => {
  const made = await makeSubmitted(service)
  const admin = await made.join(['admin'])
  for (let i = 0; i < 20; i++) await service.make.assessment(admin.ctx.organization.id, { name: `Without submissions ${i}` })
  await service.db.$executeRaw`
    INSERT INTO submissions SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid()))).*
    FROM submissions s, generate_series(1, 3000) WHERE s.id = ${made.submissionId}::uuid`
  await service.db.$executeRawUnsafe('VACUUM ANALYZE submissions, assessments')
  const list = () => listQueuedAssessments(admin.ctx, { queue: 'all' })
  const { result, queries } = await recordQueries(list)
  expect(result).toHaveLength(1)
  const { text, values } = queries.find((query) => query.text.includes('"submissions"'))!
  const literals = values.map((value) => (typeof value === 'number' ? String(value) : `'${String(value)}'`))
  const literal = text.replace(/\$(\d+)/g, (_all, number) => literals[Number(number) - 1]!)
  const plan = await service.db.$queryRawUnsafe<{ 'QUERY PLAN': unknown }[]>(`EXPLAIN (FORMAT JSON) ${literal}`)
  expect(JSON.stringify(plan)).toMatch(/"Relation Name":"submissions".*?"Index Cond":"[^"]*assessment_id >= assessments\.id/)
})
