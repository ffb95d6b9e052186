import { expect, it } from 'vitest'
import { startServiceForFile } from '../../support/service.ts'
import { makeTaking } from '../../support/taking.ts'

const service = await startServiceForFile()

/** The text above a question, before and after it is opened. */
async function readDirection(
  question: { responseType?: string; sourceLanguage?: string; targetLanguage?: string },
  language = 'en',
) {
  for (const code of [question.sourceLanguage, question.targetLanguage]) if (code) await service.make.language(code)
  const { candidate, organization } = await makeTaking(service, {
    questions: [question, {}],
    language,
    waivedChecks: ['camera', 'microphone'],
  })
  await service.db.organization.update({ where: { id: organization.id }, data: { languagesOffered: [language] } })
  const read = async () => /data-direction>([^<]*)</.exec((await candidate.open()).text)?.[1] ?? null
  const before = await read()
  await candidate.press('open', { number: '1' })
  expect(await read()).toBe(before)
  return before
}

const INTO_ENGLISH = { sourceLanguage: 'es', targetLanguage: 'en' }

it.each([
  ['en', 'Interpret from Spanish into English.'],
  ['de', 'Dolmetschen Sie von Spanisch nach Englisch.'],
  ['es', 'Interprete de español a inglés.'],
  ['fr', 'À interpréter\u00a0: espagnol vers anglais.'],
  ['pt-BR', 'Interprete de espanhol para inglês.'],
  ['ar', 'ترجموا شفهيًا من الإسبانية إلى الإنجليزية.'],
])('names the direction in the language of the page: %s', async (language, text) => {
  expect(await readDirection({ responseType: 'audio', ...INTO_ENGLISH }, language)).toBe(text)
})

it.each([
  [{ responseType: 'text', ...INTO_ENGLISH }, 'Translate from Spanish into English.'],
  [{ responseType: 'mixed', ...INTO_ENGLISH }, 'Interpret or translate from Spanish into English.'],
  [{ responseType: 'audio', targetLanguage: 'eu' }, 'Answer in Basque.'],
  [{ responseType: 'audio', sourceLanguage: 'en', targetLanguage: 'en' }, 'Answer in English.'],
  [{ responseType: 'audio', targetLanguage: 'no such code' }, 'Answer in no such code.'],
  [{ responseType: 'audio', sourceLanguage: 'es' }, null],
])('explains what to do: %o', async (question, text) => {
  expect(await readDirection(question)).toBe(text)
})
