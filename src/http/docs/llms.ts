import type { GuideGroup } from './guides.ts'
import { TITLE } from './layout.ts'

type Interface = { title: string; address: string }

/** Text of /llms.txt (llmstxt.org): the guides as Markdown, and the interfaces' documents. */
export const listForAssistants = (groups: GuideGroup[], interfaces: Interface[], origin: string): string =>
  `# ${TITLE}

> Organizations create assessments, invite candidates by email, and grade their answers. This is the documentation of its two HTTP interfaces.

## Interfaces

${interfaces.map(({ title, address }) => `- [${title}: OpenAPI](${origin}${address}/openapi.yaml)`).join('\n')}
${groups.map(({ name, guides }) => `\n## ${name}\n\n${guides.map(({ title, address, lead }) => `- [${title}](${origin}${address}.md): ${lead.replaceAll(/\s+/g, ' ').replace(/:$/, '.')}`).join('\n')}\n`).join('')}`
