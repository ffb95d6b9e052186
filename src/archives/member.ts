import {
  type ArchivedMember,
  type MemberArchiveRequest,
  readArchivedActions,
  readArchivedMember,
  readGradesByMember,
} from '../domain/archives/member-data.ts'
import type { Context } from '../domain/context.ts'
import { displayNameOf } from '../domain/text/display-name.ts'
import type { Zip } from '../files/zip.ts'
import { type Html, html } from '../html/html.ts'
import { type ArchivePage, facts, formatCode, section, table, time, toFile } from './page.ts'

/** Adds all data about a member. Audit entries and grades are streamed, because there may be many. */
export async function addMember(ctx: Context, request: MemberArchiveRequest, zip: Zip): Promise<void> {
  const { memberId: id } = request
  const member = await readArchivedMember(ctx, request)
  if (!member) return // deleted meanwhile, together with the archive
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
  await zip.add('member.json', `${JSON.stringify({ member: showMember(member) }, null, 2)}\n`)
  await zip.add('index.html', toFile(memberPage(member, { organization: ctx.organization.name, madeAt, ...acts })))
}

async function* linesOf(pages: AsyncIterable<object[]>, count: (rows: number) => void): AsyncGenerator<Uint8Array> {
  for await (const rows of pages) {
    count(rows.length)
    yield Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  }
}

/** Selects fields explicitly, so that no credentials get in. */
const showMember = (member: ArchivedMember) => ({
  ...{ id: member.id, email: member.email, firstName: member.user.firstName, lastName: member.user.lastName },
  ...{
    avatarUrl: member.user.avatarUrl,
    roles: member.roles,
    duties: member.portalRoles,
    status: member.status,
    department: member.department,
  },
  ...{ joinedAt: member.joinedAt, createdAt: member.createdAt, updatedAt: member.updatedAt, activeSince: member.activeSince },
  ...{ timeZone: member.timeZone, pageSize: member.pageSize, notices: member.notices, signInException: member.signInException },
  canViewTranscription: member.canViewTranscription,
  tags: member.tags.map(({ tag }) => tag.name),
  gradingLanguages: member.gradingLanguages.map(({ language }) => language.code),
  savedFilters: member.savedFilters,
  identities: member.identities,
  emails: member.emails,
  signIn: member.credential,
})

type MemberFacts = { organization: string; madeAt: Date; count: number; grades: number }

const memberPage = (member: ArchivedMember, { organization, madeAt, count, grades }: MemberFacts): ArchivePage => ({
  title: `Data about ${member.email}`,
  intro: html`<p>All data that <strong>${organization}</strong> stores about this member on its assessment service, as of ${time(madeAt)}. If the member also belongs to another organization, sign-in data is only included in an archive that they request themselves. The other files contain the same data for programs.</p>`,
  body: html`${section(
    'The member',
    facts([
      ['Name', displayNameOf({ ...member.user, email: member.email })],
      ['Address', member.email],
      ['Roles', [...member.roles, ...member.portalRoles].join(', ')],
      ['Status', member.status],
      ['Department', member.department],
      ['Joined', time(member.joinedAt)],
      ['Time zone', member.timeZone],
      ['Tags', member.tags.map(({ tag }) => tag.name).join(', ')],
      ['Grading languages', member.gradingLanguages.map(({ language }) => language.code).join(', ')],
      ['Digests', member.notices.map(formatCode).join(', ')],
      ['Audit log entries', html`${count} (<a href="./acts.ndjson">file</a>)`],
      ['Grades given', html`${grades} (<a href="./grades.ndjson">file</a>)`],
    ]),
  )}${signInParts(member)}${section(
    'Emails',
    member.emails.length > 0 &&
      table(
        ['Email', 'State', 'Created', 'Sent', 'Server’s reply'],
        member.emails.map(({ kind, state, createdAt, sentAt, reason }) => [
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
