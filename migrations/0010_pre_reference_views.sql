-- Reference data by category, with typed columns: written by tools/ref_views.py.

DROP VIEW IF EXISTS ref_coul;
CREATE VIEW ref_coul AS
SELECT rkey,
       payload ->> 'COUC' AS couc,
       payload ->> 'REGC' AS regc,
       nullif(payload -> 'OCAT', 'null') AS ocat,
       nullif(payload -> 'OGRP', 'null') AS ogrp,
       nullif(payload -> 'TRML', 'null') AS trml,
       nullif(payload -> 'SUBC', 'null') AS subc,
       nullif(payload -> 'ABBR', 'null') AS abbr,
       source_msg_id, batch, refreshed_at
  FROM ref_master WHERE rtype = 'COUL';

DROP VIEW IF EXISTS ref_arpt;
CREATE VIEW ref_arpt AS
SELECT rkey,
       payload ->> 'ITCD' AS itcd,
       nullif(payload -> 'REGC', 'null') AS regc,
       nullif(payload -> 'OCAT', 'null') AS ocat,
       nullif(payload -> 'OGRP', 'null') AS ogrp,
       nullif(payload -> 'TRML', 'null') AS trml,
       nullif(payload -> 'SUBC', 'null') AS subc,
       nullif(payload -> 'ABBR', 'null') AS abbr,
       source_msg_id, batch, refreshed_at
  FROM ref_master WHERE rtype = 'ARPT';

DROP VIEW IF EXISTS ref_airl;
CREATE VIEW ref_airl AS
SELECT rkey,
       payload ->> 'ITOP' AS itop,
       nullif(payload -> 'REGC', 'null') AS regc,
       nullif(payload -> 'OCAT', 'null') AS ocat,
       nullif(payload -> 'OGRP', 'null') AS ogrp,
       nullif(payload -> 'TRML', 'null') AS trml,
       nullif(payload -> 'SUBC', 'null') AS subc,
       nullif(payload -> 'ABBR', 'null') AS abbr,
       source_msg_id, batch, refreshed_at
  FROM ref_master WHERE rtype = 'AIRL';

DROP VIEW IF EXISTS ref_airc;
CREATE VIEW ref_airc AS
SELECT rkey,
       payload ->> 'ITAT' AS itat,
       nullif(payload -> 'REGC', 'null') AS regc,
       nullif(payload -> 'OCAT', 'null') AS ocat,
       nullif(payload -> 'OGRP', 'null') AS ogrp,
       nullif(payload -> 'TRML', 'null') AS trml,
       nullif(payload -> 'SUBC', 'null') AS subc,
       nullif(payload -> 'ABBR', 'null') AS abbr,
       source_msg_id, batch, refreshed_at
  FROM ref_master WHERE rtype = 'AIRC';

DROP VIEW IF EXISTS ref_regn;
CREATE VIEW ref_regn AS
SELECT rkey,
       payload ->> 'RNUM' AS rnum,
       nullif(payload -> 'REGC', 'null') AS regc,
       nullif(payload -> 'OCAT', 'null') AS ocat,
       nullif(payload -> 'OGRP', 'null') AS ogrp,
       nullif(payload -> 'TRML', 'null') AS trml,
       nullif(payload -> 'SUBC', 'null') AS subc,
       nullif(payload -> 'ABBR', 'null') AS abbr,
       source_msg_id, batch, refreshed_at
  FROM ref_master WHERE rtype = 'REGN';

DROP VIEW IF EXISTS ref_orgn;
CREATE VIEW ref_orgn AS
SELECT rkey,
       payload ->> 'OGID' AS ogid,
       nullif(payload -> 'OCAT', 'null') AS ocat,
       nullif(payload -> 'REGC', 'null') AS regc,
       nullif(payload -> 'OGRP', 'null') AS ogrp,
       nullif(payload -> 'TRML', 'null') AS trml,
       nullif(payload -> 'SUBC', 'null') AS subc,
       nullif(payload -> 'ABBR', 'null') AS abbr,
       source_msg_id, batch, refreshed_at
  FROM ref_master WHERE rtype = 'ORGN';

DROP VIEW IF EXISTS ref_fltl;
CREATE VIEW ref_fltl AS
SELECT rkey,
       payload ->> 'FTYP' AS ftyp,
       nullif(payload -> 'REGC', 'null') AS regc,
       nullif(payload -> 'OCAT', 'null') AS ocat,
       nullif(payload -> 'OGRP', 'null') AS ogrp,
       nullif(payload -> 'TRML', 'null') AS trml,
       nullif(payload -> 'SUBC', 'null') AS subc,
       nullif(payload -> 'ABBR', 'null') AS abbr,
       source_msg_id, batch, refreshed_at
  FROM ref_master WHERE rtype = 'FLTL';

DROP VIEW IF EXISTS ref_tlst;
CREATE VIEW ref_tlst AS
SELECT rkey,
       payload ->> 'TCOD' AS tcod,
       nullif(payload -> 'REGC', 'null') AS regc,
       nullif(payload -> 'OCAT', 'null') AS ocat,
       nullif(payload -> 'OGRP', 'null') AS ogrp,
       nullif(payload -> 'TRML', 'null') AS trml,
       nullif(payload -> 'SUBC', 'null') AS subc,
       nullif(payload -> 'ABBR', 'null') AS abbr,
       source_msg_id, batch, refreshed_at
  FROM ref_master WHERE rtype = 'TLST';

DROP VIEW IF EXISTS ref_glst;
CREATE VIEW ref_glst AS
SELECT rkey,
       payload ->> 'GCOD' AS gcod,
       nullif(payload -> 'REGC', 'null') AS regc,
       nullif(payload -> 'OCAT', 'null') AS ocat,
       nullif(payload -> 'OGRP', 'null') AS ogrp,
       nullif(payload -> 'TRML', 'null') AS trml,
       nullif(payload -> 'SUBC', 'null') AS subc,
       nullif(payload -> 'ABBR', 'null') AS abbr,
       source_msg_id, batch, refreshed_at
  FROM ref_master WHERE rtype = 'GLST';

DROP VIEW IF EXISTS ref_slst;
CREATE VIEW ref_slst AS
SELECT rkey,
       payload ->> 'SCOD' AS scod,
       payload ->> 'STGP' AS stgp,
       nullif(payload -> 'REGC', 'null') AS regc,
       nullif(payload -> 'OCAT', 'null') AS ocat,
       nullif(payload -> 'OGRP', 'null') AS ogrp,
       nullif(payload -> 'TRML', 'null') AS trml,
       nullif(payload -> 'SUBC', 'null') AS subc,
       nullif(payload -> 'ABBR', 'null') AS abbr,
       source_msg_id, batch, refreshed_at
  FROM ref_master WHERE rtype = 'SLST';

DROP VIEW IF EXISTS ref_clst;
CREATE VIEW ref_clst AS
SELECT rkey,
       payload ->> 'CCOD' AS ccod,
       payload ->> 'CNMC' AS cnmc,
       payload ->> 'CTML' AS ctml,
       nullif(payload -> 'REGC', 'null') AS regc,
       nullif(payload -> 'OCAT', 'null') AS ocat,
       nullif(payload -> 'OGRP', 'null') AS ogrp,
       nullif(payload -> 'TRML', 'null') AS trml,
       nullif(payload -> 'SUBC', 'null') AS subc,
       nullif(payload -> 'ABBR', 'null') AS abbr,
       source_msg_id, batch, refreshed_at
  FROM ref_master WHERE rtype = 'CLST';

DROP VIEW IF EXISTS ref_blst;
CREATE VIEW ref_blst AS
SELECT rkey,
       payload ->> 'BCOD' AS bcod,
       nullif(payload -> 'REGC', 'null') AS regc,
       nullif(payload -> 'OCAT', 'null') AS ocat,
       nullif(payload -> 'OGRP', 'null') AS ogrp,
       nullif(payload -> 'TRML', 'null') AS trml,
       nullif(payload -> 'SUBC', 'null') AS subc,
       nullif(payload -> 'ABBR', 'null') AS abbr,
       source_msg_id, batch, refreshed_at
  FROM ref_master WHERE rtype = 'BLST';

DROP VIEW IF EXISTS ref_chlt;
CREATE VIEW ref_chlt AS
SELECT rkey,
       payload ->> 'CCOD' AS ccod,
       payload ->> 'CNMC' AS cnmc,
       payload ->> 'CTML' AS ctml,
       payload ->> 'CCAT' AS ccat,
       nullif(payload -> 'REGC', 'null') AS regc,
       nullif(payload -> 'OCAT', 'null') AS ocat,
       nullif(payload -> 'OGRP', 'null') AS ogrp,
       nullif(payload -> 'TRML', 'null') AS trml,
       nullif(payload -> 'SUBC', 'null') AS subc,
       nullif(payload -> 'ABBR', 'null') AS abbr,
       source_msg_id, batch, refreshed_at
  FROM ref_master WHERE rtype = 'CHLT';

DROP VIEW IF EXISTS ref_rsta;
CREATE VIEW ref_rsta AS
SELECT rkey,
       payload ->> 'RTYP' AS rtyp,
       payload ->> 'RSID' AS rsid,
       payload ->> 'STAT' AS stat,
       (payload ->> 'BEGIN')::timestamptz AS begin_at,
       (payload ->> 'END')::timestamptz AS end_at,
       source_msg_id, batch, refreshed_at
  FROM ref_master WHERE rtype = 'RSTA';

GRANT SELECT ON ref_coul, ref_arpt, ref_airl, ref_airc, ref_regn, ref_orgn, ref_fltl, ref_tlst, ref_glst, ref_slst, ref_clst, ref_blst, ref_chlt, ref_rsta
    TO msgx_api, msgx_admin_api;
