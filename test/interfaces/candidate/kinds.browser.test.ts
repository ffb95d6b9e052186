import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { defineQuestion } from '../../../src/domain/assessments/define-question.ts'
import { definedKinds } from '../../../src/kinds/index.ts'
import { desktop, expectAccessible, isBrowserInstalled, overflow, phone, watch } from '../../support/browser.ts'
import { startBrowserForFile } from '../../support/browser-for-file.ts'
import { consent } from '../../support/candidate.ts'
import { asOperator } from '../../support/portal.ts'
import { makeAccepted } from '../../support/taking.ts'
import { PATIENT } from '../../support/wait-until.ts'

const { service, browser, origin } = await startBrowserForFile()

const CHOICES = ['Oslo', 'Bergen', 'Malmö', 'Aarhus'].map((text, i) => ({
  id: 'abcdefgh'.slice(i) + 'abcdefgh'.slice(0, i),
  text,
}))
const [OSLO, BERGEN] = CHOICES.map(({ id }) => id) as [string, string]
const comparison = { caseSensitive: false, ignore: { accents: false, punctuation: false } }
const matches = {
  prompts: ['Norway', 'Sweden'].map((text, i) => ({ id: 'npqrstuv'.slice(i) + 'npqrstuv'.slice(0, i), text })),
  choices: CHOICES,
  shuffle: false,
}
/** A question of each response type, the keys that answer it (or selectors of fields to focus first), and the stored answer. */
const ASKED: { definition: Parameters<typeof defineQuestion>[2]; keys: string[]; kept: string; says: string }[] = [
  {
    definition: {
      responseType: 'single_choice',
      spec: { options: CHOICES, shuffle: false },
      key: { policy: 'exact', right: [OSLO] },
    },
    keys: ['Space', 'ArrowDown', 'ArrowUp'],
    kept: 'Oslo',
    says: 'Choose one',
  },
  {
    definition: {
      responseType: 'multiple_choice',
      spec: { options: CHOICES, shuffle: false, least: 2, most: 3 },
      key: { policy: 'balanced', right: [OSLO, BERGEN] },
    },
    keys: ['Space', 'Tab', 'Space'],
    kept: 'Oslo\nBergen',
    says: 'Choose 2 to 3',
  },
  {
    definition: { responseType: 'number', spec: { unit: 'm' }, key: { answers: [{ value: '3.145', share: 100 }] } },
    keys: ['3', ',', '1', '4', '5'],
    kept: '3,145 m',
    says: 'This can be read as 3.145 or as 3145.',
  },
  {
    definition: {
      responseType: 'short_text',
      spec: { lines: 1 },
      key: { accepted: [{ text: 'fjord', share: 100 }], ...comparison, otherwise: 'wrong' },
    },
    keys: ['F', 'j', 'o', 'r', 'd'],
    kept: 'Fjord',
    says: 'Your answer',
  },
  {
    definition: {
      responseType: 'matching',
      spec: matches,
      key: { pairs: { [matches.prompts[0]!.id]: OSLO, [matches.prompts[1]!.id]: CHOICES[2]!.id } },
    },
    keys: ['O', 'Tab', 'M'],
    kept: 'Norway → Oslo\nSweden → Malmö',
    says: 'Choose what fits each',
  },
  {
    definition: {
      responseType: 'ordering',
      spec: { items: CHOICES.slice(0, 2) },
      key: { order: [OSLO, BERGEN] },
    },
    keys: [`#answer-${OSLO}`, '1', `#answer-${BERGEN}`, '2'],
    kept: '1. Oslo\n2. Bergen',
    says: 'Choose a place for each',
  },
]

/** Starts an assessment with one question of each type. */
async function startPaper() {
  const made = await makeAccepted(service, { questions: ASKED.map(() => ({ points: 10 })) })
  const questions = await service.db.question.findMany({ where: { assessmentId: made.assessment.id }, orderBy: { order: 'asc' } })
  const ctx = asOperator(service, made.organization)
  for (const [i, { id: questionId }] of questions.entries())
    await defineQuestion(ctx, { assessmentId: made.assessment.id, questionId }, ASKED[i]!.definition)
  await consent(made.candidate)
  await made.candidate.press('start')
  const scores = async () => {
    const { id: submissionId } = await made.submission()
    const rows = await service.db.questionScore.findMany({ where: { submissionId }, orderBy: { questionNumber: 'asc' } })
    return rows.map(({ points }) => points && Number(points))
  }
  return { ...made, scores }
}

/** Presses Tab until the focused element matches, as somebody without a mouse does. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`No key leads to ${selector}`)
}

async function lookAt(page: Page): Promise<void> {
  for (const viewport of [desktop, phone]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme })
      await expectAccessible(page)
      expect(await overflow(page)).toBe(0)
    }
  }
  await page.setViewportSize(desktop)
}

describe.skipIf(!isBrowserInstalled)('automatically scored questions (skipped where no chromium is installed)', () => {
  it('are all covered by this test', () => {
    expect(ASKED.map(({ definition }) => definition.responseType)).toEqual(
      definedKinds.filter(({ files }) => !files).flatMap(({ words }) => words),
    )
  })

  it.each([true, false])('are answered by keyboard alone, submitted, and scored: with scripts %s', async (javaScriptEnabled) => {
    const { candidate, texts, scores } = await startPaper()
    const context = await browser.newContext({ viewport: desktop, javaScriptEnabled })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const complaints = watch(page)
    await page.goto(`${origin}${candidate.path}`)
    for (const [i, { keys, says, kept }] of ASKED.entries()) {
      await tabTo(page, 'form[action$="/open"] button')
      await page.keyboard.press('Enter')
      await page.locator('[data-question]').waitFor()
      await tabTo(page, '[name=answer]')
      for (const key of keys) await (key.startsWith('#') ? tabTo(page, key) : page.keyboard.press(key))
      if (javaScriptEnabled) {
        await expect.poll(texts, PATIENT).toEqual([...ASKED.slice(0, i).map((asked) => asked.kept), kept])
        await page.getByText(says).first().waitFor()
        await lookAt(page)
      }
      await tabTo(page, 'button[value=next]')
      await page.keyboard.press('Enter')
      await page.locator('[data-next], [data-end]').first().waitFor()
    }
    await tabTo(page, 'form[action$="/finish"] button')
    await page.keyboard.press('Enter')
    await page.getByText('You have completed this assessment').waitFor()
    expect(await texts()).toEqual(ASKED.map(({ kept }) => kept))
    // 3,145 can be read as two numbers with different scores, so it gets no score.
    expect(await scores()).toEqual([10, 10, null, 10, 10, 10])
    expect(complaints).toEqual([])
  })
})
