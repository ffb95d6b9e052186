import { messages } from '../../src/generated/locales/browser.en.ts'
import { type BrowserTexts, createTexts } from '../../src/locales/texts.ts'

/** What the candidate's scripts say, in English. */
export const t: BrowserTexts = createTexts('en', messages)
