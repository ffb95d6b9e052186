import { expect, it } from 'vitest'
import { shippedTemplates } from '../../../../src/templates/templates.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()

async function setUp() {
  const organization = await service.make.organization()
  const author = await signInAs(service, organization.id, [], ['author'])
  const assessments = () => service.db.assessment.findMany({ where: { organizationId: organization.id }, orderBy: { id: 'asc' } })
  return { ...author, organization, path: `${author.home}assessments`, assessments }
}

/** Value of the hidden field that makes a form count once. */
const onceIn = (text: string): string => /name="once" value="([^"]+)"/.exec(text)![1]!

it('lists templates in a language, with their questions', async () => {
  const { get, path } = await setUp()
  for (const language of ['en', 'de']) {
    const { text } = await get(`${path}/templates?language=${language}`)
    for (const { assessment } of shippedTemplates().filter((template) => template.language === language))
      expect(text).toContain(`<h3>${assessment.name}</h3>`)
  }
  expect((await get(`${path}/templates?language=nonsense`)).status).toBe(200)
})

it('creates one assessment from a template, even if its form is sent twice', async () => {
  const { get, post, path, assessments } = await setUp()
  const once = onceIn((await get(`${path}/templates`)).text)
  const body = { once, template: 'numeracy', language: 'en' }
  const [first, second] = [await post(`${path}/templates`, body), await post(`${path}/templates`, body)]
  const [made, ...more] = await assessments()
  expect(more).toEqual([])
  expect([first.headers.location, second.headers.location]).toEqual(Array(2).fill(`${path}/${made!.id}?done=from-template`))
  expect((await get(first.headers.location!)).text).toContain('This is your assessment.')
})

it('rejects an unknown template', async () => {
  const { get, post, path, assessments } = await setUp()
  const once = onceIn((await get(`${path}/templates`)).text)
  expect((await post(`${path}/templates`, { once, template: '../numeracy', language: 'en' })).status).toBe(422)
  expect(await assessments()).toEqual([])
})

it("offers the organization's own templates, until they are removed", async () => {
  const { get, post, path, organization, assessments } = await setUp()
  const assessment = await service.make.assessment(organization.id, { name: 'Our interview' })
  await service.make.question(assessment, { script: 'Why?' })
  const isOffered = async () => (await get(`${path}/templates`)).text.includes('Use Our interview')
  expect(await isOffered()).toBe(false)
  for (let i = 0; i < 2; i++)
    expect((await post(`${path}/${assessment.id}/save-template`)).headers.location).toBe(
      `${path}/${assessment.id}?done=save-template`,
    )
  expect(await isOffered()).toBe(true)
  const once = onceIn((await get(`${path}/templates`)).text)
  expect((await post(`${path}/${assessment.id}/duplicate`, { once })).status).toBe(303)
  expect(await assessments()).toMatchObject([{ isTemplate: true }, { isTemplate: false, questionCount: 1 }])
  await post(`${path}/${assessment.id}/remove-template`)
  expect(await isOffered()).toBe(false)
  const actions = await service.db.auditEntry.findMany({ where: { organizationId: organization.id }, orderBy: { id: 'asc' } })
  expect(actions.map(({ action }) => action).filter((action) => action.includes('template'))).toEqual([
    'saved_template',
    'removed_template',
  ])
})
