import {
  type ArchivedMember,
  type MemberArchiveRequest,
  readArchivedActions,
  readArchivedMember,
  readGradesByMember,
} from '../domain/archives/member-data.ts'
import type { Context } from '../domain/context.ts'
import { displayNameOf } from '../domain/text/display-name.ts'
import { type Html, html } from '../html/html.ts'
import { type ArchivePage, facts, formatCode, section, table, time, toFile } from './page.ts'
import type { Zip } from './zip.ts'

/** Adds all data about a member. Audit entries and grades are streamed, because there may be many. */
export async function addMember(ctx: Context, asked: MemberArchiveRequest, zip: Zip): Promise<void> {
  const { memberId: id } = asked
  const held = await readArchivedMember(ctx, asked)
  if (!held) return // deleted meanwhile, together with the archive
  const madeAt = ctx.deps.clock()
  const acts = { count: 0, grades: 0 }
  await zip.addStream(
    'acts.ndjson',
    linesOf(readArchivedActions(ctx, id), (count) => (acts.count += count)),
  )
  await zip.addStream(
    'grades.ndjson',
    linesOf(readGradesByMember(ctx, id), (count) => (acts.grades += count)),
  )
  await zip.add('member.json', `${JSON.stringify({ member: showMember(held) }, null, 2)}\n`)
  await zip.add('index.html', toFile(memberPage(held, { organization: ctx.organization.name, madeAt, ...acts })))
}

async function* linesOf(pages: AsyncIterable<object[]>, count: (rows: number) => void): AsyncGenerator<Uint8Array> {
  for await (const rows of pages) {
    count(rows.length)
    yield Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  }
}

/** Selects fields explicitly, so that no credentials get in. */
const showMember = (held: ArchivedMember) => ({
  ...{ id: held.id, email: held.email, firstName: held.user.firstName, lastName: held.user.lastName },
  ...{
    avatarUrl: held.user.avatarUrl,
    roles: held.roles,
    duties: held.portalRoles,
    status: held.status,
    department: held.department,
  },
  ...{ joinedAt: held.joinedAt, createdAt: held.createdAt, updatedAt: held.updatedAt, activeSince: held.activeSince },
  ...{ timeZone: held.timeZone, pageSize: held.pageSize, notices: held.notices, signInException: held.signInException },
  canViewTranscription: held.canViewTranscription,
  tags: held.tags.map(({ tag }) => tag.name),
  gradingLanguages: held.gradingLanguages.map(({ language }) => language.code),
  savedFilters: held.savedFilters,
  identities: held.identities,
  emails: held.emails,
  signIn: held.credential,
})

type MemberFacts = { organization: string; madeAt: Date; count: number; grades: number }

const memberPage = (held: ArchivedMember, { organization, madeAt, count, grades }: MemberFacts): ArchivePage => ({
  title: `Data about ${held.email}`,
  intro: html`<p>All data that <strong>${organization}</strong> stores about this member on its assessment service, as of ${time(madeAt)}. If the member also belongs to another organization, sign-in data is only included in an archive that they request themselves. The other files contain the same data for programs.</p>`,
  body: html`${section(
    'The member',
    facts([
      ['Name', displayNameOf({ ...held.user, email: held.email })],
      ['Address', held.email],
      ['Roles', [...held.roles, ...held.portalRoles].join(', ')],
      ['Status', held.status],
      ['Department', held.department],
      ['Joined', time(held.joinedAt)],
      ['Time zone', held.timeZone],
      ['Tags', held.tags.map(({ tag }) => tag.name).join(', ')],
      ['Grading languages', held.gradingLanguages.map(({ language }) => language.code).join(', ')],
      ['Digests', held.notices.map(formatCode).join(', ')],
      ['Audit log entries', html`${count} (<a href="./acts.ndjson">file</a>)`],
      ['Grades given', html`${grades} (<a href="./grades.ndjson">file</a>)`],
    ]),
  )}${signInParts(held)}${section(
    'Emails',
    held.emails.length > 0 &&
      table(
        ['Email', 'State', 'Created', 'Sent', 'Server’s reply'],
        held.emails.map(({ kind, state, createdAt, sentAt, reason }) => [
          formatCode(kind),
          state,
          time(createdAt),
          time(sentAt),
          reason,
        ]),
      ),
  )}`,
})

function signInParts({ credential, identities }: ArchivedMember): Html | false {
  if (!credential) return false
  const { sessions, devices, secondFactors } = credential
  return html`${section(
    'Signing in',
    html`${facts([
      ['Address', credential.email],
      ['Language', credential.language],
      ['Since', time(credential.createdAt)],
      ['Password changed', time(credential.passwordChangedAt)],
      ['Second factors', secondFactors.map(({ name }) => name).join(', ')],
    ])}${
      identities.length > 0 &&
      table(
        ['Provider', 'Subject', 'Address at the provider'],
        identities.map(({ issuer, subject, lastEmail }) => [issuer, subject, lastEmail]),
      )
    }`,
  )}${section(
    'Sessions and browsers',
    sessions.length + devices.length > 0 &&
      table(
        ['Browser', 'Network', 'From', 'Last seen'],
        [...sessions, ...devices].map(({ userAgent, network, createdAt, lastSeenAt }) => [
          userAgent,
          network,
          time(createdAt),
          time(lastSeenAt),
        ]),
      ),
  )}`
}
