/* data_cmds.h - the sub-commands of cupel data. argv[0] is the name of the sub-command. */
#ifndef CLI_DATA_CMDS_H
#define CLI_DATA_CMDS_H

int data_synth(int argc, char **argv);
int data_show(int argc, char **argv);
int data_validate(int argc, char **argv);

#endif
