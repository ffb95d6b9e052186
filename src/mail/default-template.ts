import type { TemplateKind } from '../domain/mails/candidate-mails.ts'
import type { WrittenText } from '../domain/mails/template-places.ts'
import { hasButton, type Placeholder } from '../domain/mails/template-text.ts'
import type { MailTexts } from '../locales/languages.ts'
import { type Piece, translate } from './letter.ts'

const hole = (name: Placeholder): string => `{{ ${name} }}`

const NAMES = { organization: hole('organization'), assessment: hole('assessment') }

/** The service's own text of an email, as a template that can be changed. Facts and links below it are added to every text. */
export function defaultTemplate(t: MailTexts, kind: TemplateKind): WrittenText {
  const paragraphs = [
    t.text('greeting.named', { name: hole('candidate_name') }),
    toMarkdown(translate(t, `${kind}.intro`, NAMES)),
    ...(kind === 'invitation' ? [hole('message'), t.text('invitation.open')] : []),
    ...(kind === 'submitted' ? [t.text('submitted.next')] : []),
    ...(kind === 'released' ? [t.text('released.open')] : []),
    ...(hasButton(kind) ? [hole('link')] : []),
  ]
  return { subject: t.text(`${kind}.subject`, NAMES), body: paragraphs.join('\n\n') }
}

const toMarkdown = (pieces: readonly Piece[]): string =>
  pieces
    .map((piece) => {
      if (typeof piece === 'string') return piece
      if ('isolated' in piece) return piece.isolated
      return 'strong' in piece ? `**${toMarkdown(piece.strong)}**` : ''
    })
    .join('')
