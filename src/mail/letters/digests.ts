import type { Digest } from '../../domain/mails/member-emails.ts'
import type { AnswersWithoutGrader } from '../../domain/submissions/grading/answers-without-grader.ts'
import type { MailTexts } from '../../locales/languages.ts'
import { nameLanguageIn } from '../../locales/names.ts'
import { greeting, type Letter, linkWithButton, note, paragraph, translate } from '../letter.ts'
import { shortenForSubject } from '../message.ts'

type DigestFacts = {
  name: string
  organization: string
  count: number
  fresh: number
  withoutGrader: AnswersWithoutGrader[]
  url: string
}

/** Morning mail to a member: only counts and a link, no names. Other people may read mails, and grading may be blind. */
export const digest =
  (kind: Digest) =>
  (t: MailTexts, { name, organization, count, fresh, withoutGrader, url }: DigestFacts): Letter => {
    const summary =
      kind === 'grading_digest'
        ? translate(t, 'grading_digest.what', { organization, count, fresh })
        : translate(t, `${kind}.what`, { organization, count })
    const [button, address] = linkWithButton(t, url, t.text(`${kind}.button`))
    return {
      subject: t.text(`${kind}.subject`, { organization: shortenForSubject(organization), count }),
      blocks: [
        greeting(t, name),
        paragraph(...summary),
        ...withoutGrader.map((answers) => paragraph(formatWithoutGrader(t, answers))),
        button,
        address,
        note(t.text('digest.terms')),
      ],
    }
  }

const formatWithoutGrader = (t: MailTexts, { language, count }: AnswersWithoutGrader): string =>
  language === null
    ? t.text('grading_digest.without_any_grader', { count })
    : t.text('grading_digest.without_grader', { language: nameLanguageIn(t.language, language), count })
