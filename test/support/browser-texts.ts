import { messages } from '../../src/generated/locales/browser.en.ts'
import { type BrowserTexts, createTexts } from '../../src/locales/texts.ts'

/** English texts of the candidate's scripts. */
export const t: BrowserTexts = createTexts('en', messages)
