import { expect, it } from 'vitest'
import { MAX_NAMED_PARAMETERS } from '../../../../src/db/statement-names.ts'
import { assignAnswers } from '../../../../src/domain/submissions/grading/assign-answers.ts'
import { fieldsIn } from '../../../support/forms.ts'
import { makeSubmitted } from '../../../support/grading.ts'
import { links } from '../../../support/links.ts'
import { signInAs } from '../../../support/portal.ts'
import { recordQueries } from '../../../support/queries.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()

/** Creates answers in English and Basque to an assessment that assigns graders, and a function that adds a grader of a language. */
async function setUp() {
  const languages = await Promise.all(['es', 'en', 'eu'].map((code) => service.make.language(code)))
  const questions = ['en', 'eu'].map((targetLanguage) => ({ points: 2, sourceLanguage: 'es', targetLanguage }))
  const made = await makeSubmitted(service, { questions, recipientName: 'Sam' })
  const { organization, assessment, submissionId } = made
  const admin = await signInAs(service, organization.id, ['admin'])
  const grader = async (code: string) => {
    const person = await signInAs(service, organization.id, ['grader'])
    const language = languages.find((one) => one.code === code)!
    await links(service.db).addGradingLanguages({ id: person.member.id, organizationId: organization.id }, language)
    return { ...person, sheet: `${person.home}grading/${submissionId}` }
  }
  const setAssigning = async () => {
    const form = `${admin.home}assessments/${assessment.id}/edit`
    const fields = fieldsIn(await admin.get(form))
    return admin.post(form, { ...fields, assignsGraders: 'yes' })
  }
  return { ...made, admin, grader, setAssigning }
}

it("assigns answers once enabled in the assessment's form, and shows each grader their own", async () => {
  const { grader, setAssigning, assessment } = await setUp()
  const [english, basque] = [await grader('en'), await grader('eu')]
  expect((await setAssigning()).status).toBe(303)
  expect(await service.db.assessment.findFirst({ where: { id: assessment.id } })).toMatchObject({ assignsGraders: true })
  await assignAnswers(service.system)
  const queue = (await english.get(`${english.home}grading`)).text
  expect(queue).toContain('1 submission')
  const sheet = (await english.get(english.sheet)).text
  expect(sheet).toMatch(/data-direction>.*Spanish into English<\/p>/)
  expect([...sheet.matchAll(/data-grade="(\d+)"/g)].map(([, number]) => number)).toEqual(['1'])
  expect(sheet).toContain('Assigned to ')
  const save = (number: number) =>
    english.post(`${english.sheet}/questions/${number}`, { points: '1', comment: '', seen: service.clock.now().toISOString() })
  const refused = await save(2)
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('Question 2 is assigned to another grader now.')])
  await save(1)
  expect((await english.get(english.sheet)).text).toContain('You have graded your questions.')
  expect((await basque.get(`${basque.home}grading`)).text).toContain('Sam')
})

it('shows admins how many answers have no grader, by language', async () => {
  const { admin, grader, setAssigning } = await setUp()
  await grader('en')
  await setAssigning()
  await assignAnswers(service.system)
  service.clock.advance(3 * 60_000)
  const home = (await admin.get(admin.home)).text
  expect(home).toContain('1 answer in Basque has no grader')
  expect(home).not.toContain('in English')
})

it('filters the queue by the languages of the member, unless they choose every language', async () => {
  const { grader, organization } = await setUp()
  const spanish = await grader('es')
  const rows = async (query: string) => {
    const { text } = await spanish.get(`${spanish.home}grading?queue=nobody${query}`)
    return [text.includes('Sam'), text.includes('My languages')]
  }
  expect([await rows(''), await rows('&languages=all')]).toEqual([
    [false, true],
    [true, true],
  ])
  const other = await signInAs(service, organization.id, ['grader'])
  const { text } = await other.get(`${other.home}grading?queue=nobody`)
  expect([text.includes('Sam'), text.includes('My languages')]).toEqual([true, false])
})

it('reads the queue and its counts with statements whose plans PostgreSQL caches', async () => {
  const { admin, grader } = await setUp()
  const english = await grader('en')
  const { queries } = await recordQueries(async () => {
    for (const person of [admin, english]) for (const page of ['', 'grading']) await person.get(`${person.home}${page}`)
  })
  const parameters = queries.map(({ values }) => values.length)
  expect(Math.max(...parameters)).toBeGreaterThan(50)
  expect(Math.max(...parameters)).toBeLessThanOrEqual(MAX_NAMED_PARAMETERS)
})
