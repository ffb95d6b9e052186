import { readFileSync } from 'node:fs'
import { build } from 'esbuild'
import { candidateBundle } from '../../src/bundle.ts'
import { messages as browser } from '../../src/generated/locales/browser.en.ts'
import { messages as checks } from '../../src/generated/locales/checks.en.ts'
import { type CandidateTexts, createLanguages, type Languages } from '../../src/locales/languages.ts'
import type { Messages } from '../../src/locales/texts.ts'

// A pseudo language: every text of the catalogs is the English text between ⟦ and ⟧, lengthened. Text outside of these marks is in no catalog.

const FILE = new URL('../../src/generated/locales/en.json', import.meta.url)

function mark(from: Messages): Messages {
  const marked = Object.entries(from).map(([key, message]): [string, Messages[string]] =>
    typeof message === 'string' ? [key, `⟦${message} ${lengthen(message)}⟧`] : [key, ['⟦', ...message, ' ······⟧']],
  )
  return Object.fromEntries(marked)
}

/** Returns a filler of 40 % of the text's length, because other languages need more letters. */
const lengthen = (text: string): string => '·'.repeat(Math.ceil(text.length * 0.4))

export function createPseudoLanguages(): Languages {
  const { candidate, mail }: { candidate: Messages; mail: Messages } = JSON.parse(readFileSync(FILE, 'utf8'))
  const languages = createLanguages({ codes: ['en'], reviewed: ['en'] }, () => ({ candidate: mark(candidate), mail: mark(mail) }))
  // These texts come from Intl, not from the catalog.
  const formatted = ({ duration, list, ...texts }: CandidateTexts): CandidateTexts => ({
    ...texts,
    duration: (seconds) => `⟦${duration(seconds)}⟧`,
    list: (items) => `⟦${list(items)}⟧`,
  })
  return { ...languages, candidate: (...of) => formatted(languages.candidate(...of)) }
}

/** Bundles the script of the candidate's pages in the pseudo language into one file. */
export async function bundlePseudoScript(): Promise<string> {
  const pseudo = {
    name: 'pseudo',
    setup: (given: import('esbuild').PluginBuild) =>
      given.onLoad({ filter: /generated\/locales\/(browser|checks)\.en\.ts$/ }, ({ path }) => {
        const marked = mark(path.endsWith('checks.en.ts') ? checks : browser)
        return { contents: `export const messages = ${JSON.stringify(marked)}`, loader: 'ts' }
      }),
  }
  const { outputFiles } = await build({
    ...candidateBundle,
    entryPoints: candidateBundle.entryPoints.filter(({ out }) => out === 'candidate.en'),
    splitting: false,
    plugins: [pseudo, ...candidateBundle.plugins],
    write: false,
  })
  return outputFiles[0]!.text
}

/** Returns the words that are in no catalog. @param own texts and names of organizations and candidates, which are ignored. */
export function findUnmarked(said: string, own: readonly string[]): string[] {
  const theirs = [...own].filter((text) => text !== '').sort((a, b) => b.length - a.length)
  let left = theirs.reduce((text, one) => text.replaceAll(one, ' '), said)
  for (let before = ''; before !== left; ) {
    before = left
    left = left.replaceAll(/⟦[^⟦⟧]*⟧/g, ' ')
  }
  return left.match(/\p{L}[\p{L}’]+/gu) ?? []
}
