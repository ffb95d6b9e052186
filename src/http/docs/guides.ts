import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type Document, renderMarkdown } from './markdown.ts'

/** A document of `docs/`, and where it stands on the site. */
export type Guide = Document & { address: string }
export type GuideGroup = { name: string; guides: Guide[] }

/** What of `docs/` is for developers, in the order in which it is read. Each of the guides answers one question. */
const GROUPS: [name: string, files: string[]][] = [
  ['Start', ['guides/quick-start', 'guides/whole-way', 'guides/authentication', 'guides/sandbox', 'guides/clients']],
  ['Requests', ['guides/errors', 'guides/retries', 'guides/rate-limits', 'guides/lists', 'guides/interfaces']],
  [
    'Invites',
    [
      'guides/invites',
      'guides/many-invites',
      'guides/erasing',
      'guides/coming-back',
      'guides/managing',
      'guides/own-words',
      'guides/player',
    ],
  ],
  ['Questions', ['guides/library']],
  ['Members', ['guides/roles', 'guides/single-sign-on', 'guides/google-and-microsoft']],
  [
    'What happened',
    ['guides/keeping-in-step', 'guides/webhooks', 'guides/webhook-signatures', 'guides/results', 'guides/audit-log', 'ats'],
  ],
  ['What stays', ['versions', '../CHANGELOG']],
  ['Contract', ['contract/v1', 'contract/alternate', 'contract/alternate-behaviour']],
]

const FOLDER = path.join(import.meta.dirname, '../../../docs')
/** Programs that guides lead to, to be read and downloaded. */
const EXAMPLES = ['follow-events.mjs', 'receive-webhooks.mjs']

/** The guides, read and rendered. @param home where the site stands. */
export function readGuides(home: string): GuideGroup[] {
  const files = GROUPS.flatMap(([, names]) => names)
  const addresses = new Map<string, string>([
    ...files.map((name): [string, string] => [`${name}.md`, addressOf(home, name)]),
    ...EXAMPLES.map((name): [string, string] => [`examples/${name}`, `${home}/examples/${name}`]),
  ])
  const read = (name: string): Guide => {
    const resolve = (href: string) => {
      const [file = '', anchor] = href.split('#')
      const target = file === '' ? `${name}.md` : path.posix.join(path.posix.dirname(name), file)
      const address = addresses.get(target)
      return address === undefined || anchor === undefined ? address : `${address}#${anchor}`
    }
    const document = renderMarkdown(readFileSync(path.join(FOLDER, `${name}.md`), 'utf8'), resolve)
    return { ...document, address: addressOf(home, name) }
  }
  return GROUPS.map(([name, names]) => ({ name, guides: names.map(read) }))
}

const addressOf = (home: string, name: string): string =>
  `${home}/${path.posix.basename(name) === 'CHANGELOG' ? 'changes' : name}`

/** What the guides' example programs are, by where they stand. */
export const readExamples = (home: string): { address: string; text: string }[] =>
  EXAMPLES.map((name) => ({
    address: `${home}/examples/${name}`,
    text: readFileSync(path.join(FOLDER, 'examples', name), 'utf8'),
  }))
