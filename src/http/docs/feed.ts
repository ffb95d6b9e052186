import { html, toText } from '../../html/html.ts'
import { DOCS_PREFIX, FEED_ADDRESS, TITLE } from './layout.ts'
import { renderMarkdown } from './markdown.ts'

/** Atom feed (RFC 4287) of the changelog's releases, newest first. */
export function createFeed(changelog: string, origin: string): string {
  const releases = changelog
    .split(/^## \[(?=\d)/m)
    .slice(1)
    .map(describeRelease)
  const feed = html`<feed xmlns="http://www.w3.org/2005/Atom">
<id>${origin}${FEED_ADDRESS}</id>
<title>${TITLE}: changes</title>
<link rel="self" href="${origin}${FEED_ADDRESS}"></link>
<link href="${origin}${DOCS_PREFIX}/changes"></link>
<author><name>${TITLE}</name></author>
<updated>${releases[0]?.updated}</updated>
${releases.map(
  ({ version, updated, content }) => html`<entry>
<id>${origin}${DOCS_PREFIX}/changes?version=${version}</id>
<title>${version}</title>
<link href="${origin}${DOCS_PREFIX}/changes"></link>
<updated>${updated}</updated>
<content type="html">${content}</content>
</entry>
`,
)}</feed>
`
  return `<?xml version="1.0" encoding="utf-8"?>\n${toText(feed)}`
}

/** @param section begins with `1.0.0] - 2026-11-29`. */
function describeRelease(section: string) {
  const [, version, day, changes] = /^(\S+)\] - (\S+)\n([\s\S]*)$/.exec(section)!
  const { body } = renderMarkdown(`# ${version}\n${changes}`, () => undefined)
  return { version, updated: `${day}T00:00:00Z`, content: toText(body) }
}
