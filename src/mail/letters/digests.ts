import type { Digest } from '../../domain/mails/member-emails.ts'
import type { MailTexts } from '../../locales/languages.ts'
import { greet, type Letter, note, paragraph, say, wayIn } from '../letter.ts'
import { inSubject } from '../message.ts'

type Facts = { name: string; organization: string; count: number; fresh: number; url: string }

/** Morning mail to a member: only counts and a link, no names. Other people may read mails, and grading may be blind. */
export const digest =
  (kind: Digest) =>
  (t: MailTexts, { name, organization, count, fresh, url }: Facts): Letter => {
    const what =
      kind === 'grading_digest'
        ? say(t, 'grading_digest.what', { organization, count, fresh })
        : say(t, `${kind}.what`, { organization, count })
    const [button, address] = wayIn(t, url, t.text(`${kind}.button`))
    return {
      subject: t.text(`${kind}.subject`, { organization: inSubject(organization), count }),
      blocks: [greet(t, name), paragraph(...what), button, address, note(t.text('digest.terms'))],
    }
  }
