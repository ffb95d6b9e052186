import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type Document, renderMarkdown } from './markdown.ts'

/** @property address path on the site. @property markdown the source, with links to the Markdown of other guides. */
export type Guide = Document & { address: string; markdown: string }
export type GuideGroup = { name: string; guides: Guide[] }

const TYPESCRIPT_CLIENT = '../clients/typescript/README'
/** Site paths of documents outside of `docs/`. */
const ADDRESSES: Record<string, string> = { '../CHANGELOG': 'changes', [TYPESCRIPT_CLIENT]: 'clients/typescript' }

/** Documents for developers, in reading order. */
const GROUPS: [name: string, files: string[]][] = [
  [
    'Start',
    [
      'guides/quick-start',
      'guides/whole-way',
      'guides/authentication',
      'guides/sandbox',
      'guides/clients',
      TYPESCRIPT_CLIENT,
      'guides/assistants',
    ],
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
  ['Answers', ['guides/transcripts']],
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

export const readChangelog = (): string => readFileSync(path.join(FOLDER, '../CHANGELOG.md'), 'utf8')

/** @returns null if the client was not built. */
export const readClient = (): Buffer | null => (existsSync(CLIENT_FILE) ? readFileSync(CLIENT_FILE) : null)

/** Reads and renders the guides. @param home path of the site. */
export function readGuides(home: string): GuideGroup[] {
  const files = GROUPS.flatMap(([, names]) => names)
  const addresses = new Map<string, string>([
    ...files.map((name): [string, string] => [`${name}.md`, addressOf(home, name)]),
    ...EXAMPLES.map((name): [string, string] => [name, exampleAddress(home, name)]),
  ])
  const isGuide = new Set(files.map((name) => addressOf(home, name)))
  const read = (name: string): Guide => {
    const source = readFileSync(path.join(FOLDER, `${name}.md`), 'utf8')
    const resolve = (href: string) => {
      const [file = '', anchor] = href.split('#')
      const target = file === '' ? `${name}.md` : path.posix.join(path.posix.dirname(name), file)
      const address = addresses.get(target)
      return address === undefined || anchor === undefined ? address : `${address}#${anchor}`
    }
    const markdown = rewriteLinks(source, (href) => {
      const [address = '', anchor] = resolve(href)?.split('#') ?? []
      return isGuide.has(address) ? `${address}.md${anchor === undefined ? '' : `#${anchor}`}` : address
    })
    return { ...renderMarkdown(source, resolve), address: addressOf(home, name), markdown }
  }
  return GROUPS.map(([name, names]) => ({ name, guides: names.map(read) }))
}

/** Replaces the addresses of links within the project; a link without one becomes its text. */
const rewriteLinks = (markdown: string, resolve: (href: string) => string): string =>
  markdown.replaceAll(/\[([^\]]+)\]\((?!https?:)([^)\s]+)\)/g, (_link, text: string, href: string) => {
    const address = resolve(href)
    return address === '' ? text : `[${text}](${address})`
  })

const addressOf = (home: string, name: string): string => `${home}/${ADDRESSES[name] ?? name}`
const exampleAddress = (home: string, name: string): string => `${home}/examples/${path.posix.basename(name)}`

export const readExamples = (home: string): { address: string; text: string }[] =>
  EXAMPLES.map((name) => ({
    address: exampleAddress(home, name),
    text: readFileSync(path.join(FOLDER, name), 'utf8'),
  }))
