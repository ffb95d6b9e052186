// Queries outside the scope of a tenant database. tsc fails if one of them compiles. test/db/tenant-db.test.ts tests what types can't check.
import type { Connection } from '../../src/db/client.ts'
import { type TenantDb, tenantDb } from '../../src/db/tenant-db.ts'
import { type Context, enterOrganization, type ServiceContext } from '../../src/domain/context.ts'

declare const connection: Connection
declare const service: ServiceContext
declare const id: string
declare const tag: {
  id: string
  name: string
  nameKey: string
  nameSearch: string
  color: string
  createdAt: Date
  updatedAt: Date
}
declare const tagElsewhere: typeof tag & { organizationId: string }
declare const suppression: { id: string; address: string; reason: string; since: Date }

/** Queries that use a tenant table without its scope. They don't compile, and they throw if a cast makes them compile. */
export const unscopedQueries = {
  'a join by name': (db: TenantDb) =>
    db
      .selectFrom('submissions')
      // @ts-expect-error
      .innerJoin('invites', 'invites.id', 'submissions.inviteId')
      .select('submissions.id'),
  'a left join by name and alias': (db: TenantDb) =>
    db
      .selectFrom('invites')
      // @ts-expect-error
      .leftJoin('members as grader', 'grader.id', 'invites.assignedGraderId')
      .select('invites.id'),
  'a lateral join by name': (db: TenantDb) =>
    db.selectFrom('submissions').leftJoinLateral(
      // @ts-expect-error
      (eb) => eb.selectFrom('releases').select('releases.version').as('release'),
      (join) => join.onTrue(),
    ),
  'a sub-select as a column': (db: TenantDb) =>
    db.selectFrom('invites').select(
      // @ts-expect-error
      (eb) => eb.selectFrom('assessments').select('assessments.name').as('name'),
    ),
  exists: (db: TenantDb) =>
    db
      .selectFrom('invites')
      .select('id')
      .where(
        // @ts-expect-error
        (eb) => eb.exists(eb.selectFrom('inviteTags').select('inviteTags.tagId')),
      ),
  in: (db: TenantDb) =>
    db
      .selectFrom('invites')
      .select('id')
      // @ts-expect-error
      .where('assessmentId', 'in', (eb) => eb.selectFrom('assessments').select('assessments.id')),
  'a sub-select in the condition of a join': (db: TenantDb) =>
    db
      .selectFrom('invites')
      .innerJoin(db.table('inviteTags'), (join) =>
        join.on(
          // @ts-expect-error
          (eb) => eb.exists(eb.selectFrom('tags').select('tags.id')),
        ),
      )
      .select('invites.id'),
  'WITH a table by name': (db: TenantDb) =>
    db
      .with(
        'found',
        // @ts-expect-error
        (inside) => inside.selectFrom('invites').select('invites.id'),
      )
      .selectFrom('found')
      .select('found.id'),
  'an update from a table by name': (db: TenantDb) =>
    db
      .updateTable('submissions')
      // @ts-expect-error
      .from('releases')
      .set({ tab: null }),
  'a delete using a table by name': (db: TenantDb) =>
    // @ts-expect-error
    db.deleteFrom('inviteTags').using('tags'),
  'a query without FROM': (db: TenantDb) =>
    db.selectNoFrom(
      // @ts-expect-error
      (eb) => eb.selectFrom('invites').select('invites.id').as('id'),
    ),
}

// Other attempts to leave the scope.
void [
  // @ts-expect-error several tables
  (db: TenantDb) => db.selectFrom(['invites', 'tags']),
  // @ts-expect-error a table without an organization
  (db: TenantDb) => db.selectFrom('sessions'),
  (db: TenantDb) =>
    // @ts-expect-error a column of accounts that organizations must not see
    db.selectFrom('members').innerJoin(db.table('users'), 'users.id', 'members.userId').select('users.orphanedSince'),
  // @ts-expect-error a table of accounts in a join
  (db: TenantDb) => db.selectFrom('members').innerJoin(db.table('credentials'), 'credentials.id', 'members.credentialId'),
  // @ts-expect-error accounts as the first table
  (db: TenantDb) => db.selectFrom('users'),
  // @ts-expect-error an update of a shared table
  (db: TenantDb) => db.updateTable('languages'),
  // @ts-expect-error an update of the organization's row
  (db: TenantDb) => db.updateTable('organizations'),
  // @ts-expect-error an update of the organization
  (db: TenantDb) => db.updateTable('tags').set({ organizationId: id }),
  // @ts-expect-error an update of the mode
  (db: TenantDb) => db.updateTable('suppressions').set({ mode: 'live' }),
  // @ts-expect-error an insert that names the organization
  (db: TenantDb) => db.insertInto('tags').values({ ...tag, organizationId: id }),
  // @ts-expect-error the same in a variable
  (db: TenantDb) => db.insertInto('tags').values(tagElsewhere),
  // @ts-expect-error an insert that names the mode
  (db: TenantDb) => db.insertInto('suppressions').values({ ...suppression, mode: 'test' }),
  // @ts-expect-error an insert without values
  (db: TenantDb) => db.insertInto('tags').defaultValues(),
  // @ts-expect-error a database without a mode
  () => tenantDb(connection, { organization: { id } }),
  // @ts-expect-error a context whose database has no scope
  (organization: Context['organization']): Context => ({ ...service, organization, mode: 'live' }),
  // @ts-expect-error a context with the database of another mode
  (ctx: Context): Context => ({ ...ctx, mode: 'all' }),
  // @ts-expect-error a context without an organization
  () => enterOrganization(service, {}),
  // @ts-expect-error a database of all organizations instead of a tenant database
  (): TenantDb => connection,
]
