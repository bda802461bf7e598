#!/bin/sh
# Run once by the image of PostgreSQL, in an empty volume: the two roles of docs/operating.md, "Two roles".
set -eu
psql --username postgres --set ON_ERROR_STOP=1 \
  --set owner="$OWNER_PASSWORD" --set service="$SERVICE_PASSWORD" <<'SQL'
create role countersign_owner login password :'owner';
create role countersign_service login password :'service';
create database countersign owner countersign_owner encoding 'UTF8' template template0;
revoke all on database countersign from public;
grant connect on database countersign to countersign_service;
SQL
