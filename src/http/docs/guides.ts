import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type Document, renderMarkdown } from './markdown.ts'

/** @property address path on the site. */
export type Guide = Document & { address: string }
export type GuideGroup = { name: string; guides: Guide[] }

const TYPESCRIPT_CLIENT = '../clients/typescript/README'
/** Site paths of documents outside of `docs/`. */
const ADDRESSES: Record<string, string> = { '../CHANGELOG': 'changes', [TYPESCRIPT_CLIENT]: 'clients/typescript' }

/** Documents for developers, in reading order. */
const GROUPS: [name: string, files: string[]][] = [
  [
    'Start',
    ['guides/quick-start', 'guides/whole-way', 'guides/authentication', 'guides/sandbox', 'guides/clients', TYPESCRIPT_CLIENT],
  ],
  ['Requests', ['guides/errors', 'guides/retries', 'guides/rate-limits', 'guides/lists', 'guides/interfaces']],
  [
    'Invites',
    [
      'guides/invites',
      'guides/many-invites',
      'guides/open-link',
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
    [
      'guides/keeping-in-step',
      'guides/webhooks',
      'guides/webhook-signatures',
      'guides/results',
      'guides/audit-log',
      'ats',
      'ats-samples',
      'guides/other-ats',
    ],
  ],
  ['What stays', ['versions', '../CHANGELOG']],
  ['Contract', ['contract/v1', 'contract/alternate', 'contract/alternate-behaviour']],
]

const FOLDER = path.join(import.meta.dirname, '../../../docs')
/** Programs that guides link to. */
const EXAMPLES = ['examples/follow-events.mjs', 'examples/receive-webhooks.mjs', '../clients/typescript/examples/first-result.ts']
/** Written by `npm run build:client`. */
const CLIENT_FILE = path.join(import.meta.dirname, '../../generated/client.tgz')
export const CLIENT_ADDRESS = '/clients/assessment-invitation-service-client.tgz'

/** @returns null if the client was not built. */
export const readClient = (): Buffer | null => (existsSync(CLIENT_FILE) ? readFileSync(CLIENT_FILE) : null)

/** Reads and renders the guides. @param home path of the site. */
export function readGuides(home: string): GuideGroup[] {
  const files = GROUPS.flatMap(([, names]) => names)
  const addresses = new Map<string, string>([
    ...files.map((name): [string, string] => [`${name}.md`, addressOf(home, name)]),
    ...EXAMPLES.map((name): [string, string] => [name, exampleAddress(home, name)]),
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

const addressOf = (home: string, name: string): string => `${home}/${ADDRESSES[name] ?? name}`
const exampleAddress = (home: string, name: string): string => `${home}/examples/${path.posix.basename(name)}`

export const readExamples = (home: string): { address: string; text: string }[] =>
  EXAMPLES.map((name) => ({
    address: exampleAddress(home, name),
    text: readFileSync(path.join(FOLDER, name), 'utf8'),
  }))
