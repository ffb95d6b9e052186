import type { PageLink } from '../../domain/ports/page-links.ts'
import type { MailTexts } from '../../locales/languages.ts'
import { fillTemplate, type Values } from '../fill-template.ts'
import { type Block, type Letter, note } from '../letter.ts'
import type { CandidateFacts } from './candidate-facts.ts'

/**
 * @property ours the default text. @property button replaces the link of a custom text; null: none.
 * @property facts added to a custom text, which may omit them. @property frame ends both, and can't be edited.
 */
type LetterParts = {
  subject: string
  defaultText: readonly Block[]
  button: Block | null
  facts: readonly Block[]
  frame: readonly Block[]
}

/** Composes a mail from the organization's custom text, or from the default text. */
export function composeLetter(
  t: MailTexts,
  candidate: CandidateFacts,
  { subject, defaultText, button, facts, frame }: LetterParts,
): Letter {
  const { template } = candidate
  const foot = [...frame, ...legalLinks(t, candidate.links)]
  if (!template) return { subject, blocks: [...defaultText, ...foot] }
  const filled = fillTemplate(template, valuesOf(t, candidate), button)
  return { subject: filled.subject.trim() || subject, blocks: [...filled.blocks, ...facts, ...foot] }
}

const LINKS = {
  imprint: 'frame.imprint',
  privacy: 'frame.privacy',
  contact: 'frame.contact',
} as const satisfies Record<PageLink, string>

/** Links to the organization's legal pages. */
export const legalLinks = (t: MailTexts, links: CandidateFacts['links']): Block[] =>
  links.length === 0
    ? []
    : [note(...links.flatMap(({ link, url }, i) => [...(i > 0 ? [' · '] : []), { link: url, content: [t.text(LINKS[link])] }]))]

const valuesOf = (t: MailTexts, facts: CandidateFacts): Values => ({
  candidate_name: facts.recipientName ?? '',
  assessment: facts.assessment,
  organization: facts.organization,
  sender_name: facts.invitedBy ?? '',
  question_count: facts.questionCount > 0 ? String(facts.questionCount) : '',
  time_limit: facts.timeLimit > 0 ? t.duration(facts.timeLimit) : '',
  expires_at: t.time(facts.expiresAt),
  expires_in: t.days(facts.daysLeft),
  message: facts.customMessage,
  submitted_at: facts.submission ? t.time(facts.submission.at) : '',
})
