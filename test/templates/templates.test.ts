import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createFromTemplate } from '../../src/domain/assessments/templates.ts'
import { importDocument } from '../../src/import/import-document.ts'
import { readDocument } from '../../src/import/read-document.ts'
import { shippedTemplates } from '../../src/templates/templates.ts'
import { asOperator } from '../support/portal.ts'
import { startServiceForFile } from '../support/service.ts'

const service = await startServiceForFile({ ROLE: 'api' })
const FOLDER = new URL('../../src/templates/', import.meta.url)
const templates = shippedTemplates()
const byLanguage = (language: string) => templates.filter((template) => template.language === language)

it('has eight templates, each in three languages', () => {
  const names = byLanguage('en').map(({ name }) => name)
  expect(names).toHaveLength(8)
  for (const language of ['de', 'es']) expect(byLanguage(language).map(({ name }) => name)).toEqual(names)
  expect(templates).toHaveLength(24)
})

it.each(readdirSync(FOLDER).filter((file) => file.endsWith('.json')))('has an import document in %s', async (file) => {
  const document = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'))
  document.organizations[0].name = `Template ${file}`
  const { organizations } = await importDocument(service.system, readDocument(document))
  const found = await service.db.assessment.findMany({ where: { organizationId: organizations[0]!.id } })
  expect(found).toMatchObject([{ questionCount: document.organizations[0].assessments[0].questions.length }])
})

it('makes an assessment of each template, with instructions, points, and a key or a rubric for each question', async () => {
  const organization = await service.make.organization()
  const ctx = asOperator(service, organization)
  for (const { name, language, summary, assessment, questions } of templates) {
    const id = await createFromTemplate(ctx, { assessment, questions })
    const found = await service.db.assessment.findFirstOrThrow({ where: { id }, include: { instruction: true, questions: true } })
    expect([name, language, found.instruction?.body]).toEqual([name, language, expect.stringMatching(/\S/)])
    expect(summary).toMatch(/\.$/)
    expect(found.totalPoints).toBeGreaterThan(0)
    for (const question of found.questions)
      expect([name, question.order, question.points > 0, question.versionId !== null || question.rubric !== null]).toEqual([
        name,
        question.order,
        true,
        true,
      ])
  }
})

describe('a template in another language', () => {
  it('has the same kinds of questions, points, and times', () => {
    const shapeOf = ({ assessment, questions }: (typeof templates)[number]) => ({
      timeLimit: assessment.timeLimit,
      questions: questions.map(({ input, definition }) => [
        ...[input.responseType, input.points, input.timeLimit, input.preparationTime],
        ...[input.scriptFormat, definition !== null, input.rubric?.map(({ levels }) => levels.map(({ points }) => points))],
      ]),
    })
    for (const english of byLanguage('en'))
      for (const other of templates.filter(({ name }) => name === english.name))
        expect([other.name, other.language, shapeOf(other)]).toEqual([other.name, other.language, shapeOf(english)])
  })
})
