/** Effect of an erasure on each text column, by table. `erased`: time and step that erase the columns. `nobody`: why they contain nobody. */
export type Catalogue = Record<string, { erased?: Record<string, string>; nobody?: Record<string, string> }>

export const SECRET = 'secret of the organization or of the service, or derived from one'
export const CODE = 'fixed value, code, or generated key'
export const MACHINE = 'data of the service itself'

/** Tables of the queue and of migrations. The subject of the erasure makes no difference to them. */
export const SERVICE_CATALOGUE: Catalogue = {
  'pgboss.bam': { nobody: { [MACHINE]: 'name status queue table_name command error' } },
  'pgboss.job': {
    erased: { 'mails: deleted with the mail, or emptied if it contains the person': 'output source_output' },
    nobody: {
      'generated ids, and for a minute the address of a sign-in': 'data',
      [MACHINE]: 'name singleton_key group_id group_tier dead_letter policy source_name',
    },
  },
  'pgboss.job_dependency': { nobody: { [MACHINE]: 'child_name parent_name' } },
  'pgboss.queue': { nobody: { [MACHINE]: 'name policy dead_letter table_name singletons_active' } },
  'pgboss.queue_stats': { nobody: { [MACHINE]: 'name' } },
  'pgboss.schedule': { nobody: { [MACHINE]: 'name key kind cron timezone data options' } },
  'pgboss.subscription': { nobody: { [MACHINE]: 'event name' } },
  'pgboss.warning': { nobody: { [MACHINE]: 'type message data' } },
  'public._prisma_migrations': { nobody: { [MACHINE]: 'id checksum migration_name logs' } },
  'public.secret_fingerprints': { nobody: { [SECRET]: 'fingerprint' } },
}
