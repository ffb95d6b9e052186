/** Supported applicant tracking systems (ATS). */
export const ATS_SYSTEMS = ['greenhouse', 'ashby', 'recruitee'] as const
export type Ats = (typeof ATS_SYSTEMS)[number]

/** The operator's settings by system. A system without settings is switched off and hidden. */
export type AtsSettings = {
  greenhouse?: object | undefined
  /** `url`: base URL of the API. */
  ashby?: { url: string } | undefined
  /** `url`: base URL of the report endpoints. */
  recruitee?: { url: string; secret: string } | undefined
  /** Hosts that reports may be sent to, in addition to the ATS's own. */
  callbackHosts: ReadonlySet<string>
}
